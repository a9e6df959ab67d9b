"""Does what docs/your-first-kernel.md says, in a home folder of its own.

  first_kernel_test.py SOURCE_DIRECTORY BINARY_DIRECTORY

A block of "```sh" is run, one after the other in the same place; "```<language> <file>" is written there; each line of a
"```text" is in what the block of commands before it has printed.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, BINARY = (pathlib.Path(argument) for argument in sys.argv[1:3])
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Reader:
    """Somebody who does what the page says."""

    def __init__(self, home):
        self.home = home
        self.place = SOURCE
        self.printed = ""
        self.missing = []

    def run(self, commands):
        commands = commands.replace("build/release", str(BINARY))
        environment = {**os.environ, "HOME": str(self.home)}
        done = subprocess.run(["bash", "-euc", commands + f'\npwd > "{self.home}/place"'], cwd=self.place, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{commands}\nends with {done.returncode}:\n{done.stdout}")
        self.place = pathlib.Path((self.home / "place").read_text(encoding="utf-8").strip())
        self.printed = done.stdout

    def compare(self, text):
        self.missing += [line for line in text.splitlines() if line not in self.printed]

    def follow(self, page):
        for language, file, text in BLOCK.findall(page):
            if language == "sh":
                self.run(text)
            elif language == "text":
                self.compare(text)
            else:
                (self.place / file).write_text(text, encoding="utf-8")


def main():
    page = (SOURCE / "docs/your-first-kernel.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="t3vp-first-kernel-") as home:
        reader = Reader(pathlib.Path(home))
        reader.follow(page)
        if reader.missing:
            sys.exit("the page shows what is not printed:\n" + "\n".join(reader.missing) + "\nprinted:\n" + reader.printed)
        exported = subprocess.run(["nm", "-D", "--defined-only", reader.place / "build/scale.so"], check=True,
                                  capture_output=True, text=True).stdout.split()[2::3]
        if exported != ["t3_exports"]:
            sys.exit(f"the library shows {exported}, not its table alone")
        report = json.loads((reader.place / "out/report.json").read_text(encoding="utf-8"))
        if report["time_ns"]["scaling"] <= 0 or report["functional"]["mismatches"] != 0:
            sys.exit("the report has no time of the phase, or wrong results")


main()
