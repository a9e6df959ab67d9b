"""Each row of the NIC's table in docs/guides/drivers/programs-and-kernels.md names a test, in its last column, that there is.

  named_tests.py SOURCE_DIRECTORY TEST_BINARY
"""
import pathlib
import subprocess
import sys

SOURCE, BINARY = sys.argv[1:3]


def rows(page):
    table = page[page.index("### With a NIC"):page.index("### What cannot be told")]
    return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines() if line.startswith("| ")][2:]


def main():
    page = (pathlib.Path(SOURCE) / "docs/guides/drivers/programs-and-kernels.md").read_text(encoding="utf-8")
    tests = subprocess.run([BINARY, "--list-test-names-only"], capture_output=True, text=True, check=False).stdout.splitlines()
    named = [row[-1] for row in rows(page)]
    unknown = [name for name in named if name not in tests]
    if unknown or len(named) < 20:
        sys.exit(f"{len(named)} rows; tests that there are not: {unknown}")


main()
