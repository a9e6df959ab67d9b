"""Builds and runs every example with the installed and moved package alone.

  examples_test.py SOURCE_DIRECTORY BINARY_DIRECTORY

No file of the package, and none that its users generate, names a path of the sources, of the build or of the first
installation.
"""

import os
import pathlib
import shutil
import sys

from installed import files_with, moved_package, run

SOURCE, BINARY = (pathlib.Path(argument) for argument in sys.argv[1:3])


def require_no_paths(place, folder):
    found = files_with(folder, [SOURCE, BINARY, place / "installed"])
    if found:
        sys.exit("these files name paths that their users do not have:\n" + "\n".join(map(str, found)))


def require_pieces(package):
    """What a user expects, besides what the examples use."""
    for piece in ("share/doc/t3vp/LICENSE", "share/doc/t3vp/guides/package.md", "share/t3vp/configs/memory/hbm2-legacy.json",
                  "share/t3vp/examples/README.md"):
        if not (package / piece).is_file():
            sys.exit(f"the package has no {piece}")


def run_examples(package, build, out):
    system = package / "share/t3vp/configs/systems/small-4.json"
    t3vp, examples = package / "bin/t3vp", package / "share/t3vp/examples"
    run(build / "block-bench/block_bench", system)
    run(build / "node-bench/bench")
    run(build / "own-registers/timer_bench")
    run(t3vp, "registers", "script", examples / "register-script/first.regs", "--system", system)
    run(t3vp, "run", examples / "native-program/run.json", "--set", f"program={build}/native-program/scale.so", "--out", out)
    if (package / "lib/t3vp/riscv/libt3_riscv.a").exists() and shutil.which("riscv64-unknown-elf-gcc"):
        run(t3vp, "run", examples / "riscv-program/run.json", "--set", f"program={build}/riscv-program/first.elf", "--out", out)
        build_with_toolchain(package, out)


def build_with_toolchain(package, out):
    """The cross compiler as the project's compiler."""
    project = out / "cross"
    project.mkdir(parents=True)
    shutil.copy(package / "share/t3vp/examples/riscv-program/first.c", project)
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(cross LANGUAGES C)\n"
        "find_package(t3vp REQUIRED COMPONENTS riscv)\n"
        "add_executable(first first.c)\ntarget_link_libraries(first PRIVATE t3vp::riscv_firmware)\n", encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if name not in ("CFLAGS", "CXXFLAGS")}
    run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={package}",
        f"-DCMAKE_TOOLCHAIN_FILE={package}/lib/cmake/t3vp/t3vp-riscv-toolchain.cmake", env=clean)
    run("cmake", "--build", project / "build", env=clean)
    run(package / "bin/t3vp", "run", package / "share/t3vp/examples/riscv-program/run.json", "--set",
        f"program={project}/build/first.elf", "--out", out / "cross-run")


def main():
    with moved_package(BINARY) as place:
        package, build = place / "package", place / "build"
        require_no_paths(place, package)
        require_pieces(package)
        run("cmake", "-S", package / "share/t3vp/examples", "-B", build, f"-DCMAKE_PREFIX_PATH={package}")
        run("cmake", "--build", build)
        require_no_paths(place, build)
        run_examples(package, build, place / "out")


main()
