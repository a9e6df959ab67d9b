"""Does what docs/tutorials/first-testbench.md says.

  first_testbench_test.py SOURCE_DIRECTORY BINARY_DIRECTORY
"""

import subprocess
import sys

import how_to


def check(reader):
    for updates, expected in ((4, 0), (8, 1)):
        command = [reader.place / "build/memory_bench", str(updates)]
        code = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
        if code != expected:
            sys.exit(f"the bench of a memory with updates of {updates} cycles ends with {code}, {expected} expected")


how_to.read("tutorials/first-testbench.md", check)
