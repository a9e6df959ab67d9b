"""Each row of the tables in docs/guides/drivers/nic-errors.md names a test in its last column, and the test exists.

  named_tests.py SOURCE_DIRECTORY TEST_BINARY
"""
import pathlib
import subprocess
import sys

SOURCE, BINARY = sys.argv[1:3]


def rows(page):
    lines = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith(("| Mistake", "| ---"))]
    return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]


def main():
    page = (pathlib.Path(SOURCE) / "docs/guides/drivers/nic-errors.md").read_text(encoding="utf-8")
    tests = subprocess.run([BINARY, "--list-test-names-only"], capture_output=True, text=True, check=False).stdout.splitlines()
    named = [row[-1] for row in rows(page)]
    unknown = [name for name in named if name not in tests]
    if unknown or len(named) < 20:
        sys.exit(f"{len(named)} rows; these tests do not exist: {unknown}")


main()
