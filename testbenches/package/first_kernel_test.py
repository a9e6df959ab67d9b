"""Does what docs/tutorials/first-kernel.md says.

  first_kernel_test.py SOURCE_DIRECTORY BINARY_DIRECTORY

Without gdb-multiarch it says so and ends with 77 (CTest: skipped), or fails when T3VP_ALL_TESTS is set.
"""

import json
import os
import shutil
import subprocess
import sys

import how_to


def check(reader):
    exported = subprocess.run(["nm", "-D", "--defined-only", reader.place / "build/scale.so"], check=True,
                              capture_output=True, text=True).stdout.split()[2::3]
    if exported != ["t3_exports"]:
        sys.exit(f"the library shows {exported}, not its table alone")
    report = json.loads((reader.place / "out/report.json").read_text(encoding="utf-8"))
    if report["time_ns"]["scaling"] <= 0 or report["functional"]["mismatches"] != 0:
        sys.exit("the report has no time of the phase, or wrong results")


if shutil.which("gdb-multiarch") is None:
    print("NOT RUN: gdb-multiarch not found (Debian: gdb-multiarch)")
    sys.exit(1 if os.environ.get("T3VP_ALL_TESTS") else 77)
how_to.read("tutorials/first-kernel.md", check)
