"""Static checks of the firmware: it compiles freestanding under the strictest warnings, and cppcheck finds nothing.

  static_checks.py SOURCE_DIRECTORY BUILD_DIRECTORY C_COMPILER

The compiler is the host's: nothing of the driver and the programs may need a library that a freestanding compiler does not have
to have, but for memcpy() and its like. Without cppcheck it says that it has not been run and is skipped (exit code 77); where
T3VP_ALL_TESTS is set it fails.
"""

import os
import pathlib
import shutil
import subprocess
import sys

SOURCE, BUILD, COMPILER = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
FIRMWARE = SOURCE / "firmware"
INCLUDES = [f"-I{folder}" for folder in (SOURCE / "abi/include", FIRMWARE / "include", FIRMWARE / "hal", FIRMWARE, FIRMWARE / "driver",
                                         BUILD / "generated/c", BUILD / "firmware/t3vp_kernel_arguments_arguments",
                                         BUILD / "include/workloads")]
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Werror"]


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(result.stdout + result.stderr)


def main():
    sources = [file for folder in ("driver", "device") for file in sorted((FIRMWARE / folder).glob("*.c"))]
    sources += sorted((SOURCE / "platform/workloads").glob("*/*.c"))
    if len(sources) < 30:
        sys.exit(f"{len(sources)} sources in {FIRMWARE}, expected all of the driver and the programs")
    run([COMPILER, "-std=c11", "-ffreestanding", "-fsyntax-only", *WARNINGS, *INCLUDES, *sources])
    cppcheck = shutil.which("cppcheck")
    if cppcheck is None:
        print("NOT RUN: cppcheck (Debian: cppcheck)")
        return 1 if os.environ.get("T3VP_ALL_TESTS") else 77
    run([cppcheck, "--std=c11", "--enable=warning,performance,portability", "--error-exitcode=1", "--quiet", *INCLUDES,
         *sources, *sorted((FIRMWARE / "hal/riscv").glob("*.c"))])
    print(f"{len(sources)} sources compile freestanding; cppcheck finds nothing")
    return 0


if __name__ == "__main__":
    sys.exit(main())
