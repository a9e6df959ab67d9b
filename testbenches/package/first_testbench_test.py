"""Does what docs/tutorials/first-testbench.md says.

  first_testbench_test.py SOURCE_DIRECTORY BINARY_DIRECTORY
"""

import subprocess
import sys

import how_to


def check(reader):
    for command, expected in (("memory_bench 4", 0), ("memory_bench 8", 1), ("data_bench", 0), ("data_bench lose", 1)):
        program, *arguments = command.split()
        code = subprocess.run([reader.place / "build" / program, *arguments], stdout=subprocess.DEVNULL,
                              check=False).returncode
        if code != expected:
            sys.exit(f"{command} ends with {code}, {expected} expected")


how_to.read("tutorials/first-testbench.md", check)
