"""Does what docs/guides/drivers/testing-firmware.md says.

  testing_firmware_test.py SOURCE_DIRECTORY BINARY_DIRECTORY

Without its tools it says so and ends with 77 (CTest: skipped), or fails when T3VP_ALL_TESTS is set.
"""

import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(sys.argv[1], "testbenches/package")))
import how_to  # noqa: E402

missing = [tool for tool in ("riscv64-unknown-elf-gcc", "cppcheck") if shutil.which(tool) is None]
if missing or not pathlib.Path(sys.argv[2], "t3vp-firmware.elf").exists():
    print(f"NOT RUN: {' and '.join(missing) or 't3vp-firmware.elf'} not found")
    sys.exit(1 if os.environ.get("T3VP_ALL_TESTS") else 77)

how_to.read("guides/drivers/testing-firmware.md", lambda reader: None)
