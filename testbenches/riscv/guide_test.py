"""The bare-metal program of docs/guides/riscv.md, built and run by the commands there, says what it says there.

  guide_test.py SOURCE_DIRECTORY T3VP

Without riscv64-unknown-elf-gcc it says so and ends with 77 (CTest: skipped), or fails when T3VP_ALL_TESTS is set.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, T3VP = pathlib.Path(sys.argv[1]), sys.argv[2]
COMPILER = "riscv64-unknown-elf-gcc"

if shutil.which(COMPILER) is None:
    print(f"NOT RUN: {COMPILER} not found (Debian: gcc-riscv64-unknown-elf)")
    sys.exit(1 if os.environ.get("T3VP_ALL_TESTS") else 77)

section = (SOURCE / "docs/guides/riscv.md").read_text().split("\n## Run bare-metal code on one core\n")[1].split("\n## ")[0]
blocks = re.findall(r"(?:^    .*\n)+", section, re.MULTILINE)
program, commands = (re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in blocks[:2])
compile_line, run_line = commands.strip().splitlines()
run_line, said = (part.strip() for part in run_line.split("#"))
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "sum.S").write_text(program)
    subprocess.run(compile_line.split(), cwd=folder, check=True)
    run = subprocess.run([T3VP, *run_line.split()[1:]], cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    traced = len(pathlib.Path(folder, "sum.txt").read_text().splitlines())
assert run.stdout.strip() == said, run.stdout
assert f" {traced} instructions" in said, traced
