"""Does what a page of docs says, in a home folder of its own.

The blocks of "```sh" run one after the other in the same place. A block whose line above ends with a file's name and a
colon ("`file.c`:") is written to that file, or appended where the page has begun it. A block of "`firmware/<file>`:" or
"`platform/<file>`:" is part of that file of the project. Each line of a "```text" is in the output of the commands before it;
a line "..." stands for lines that the page leaves out.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from page_blocks import BLOCK

SOURCE, BINARY = (pathlib.Path(argument) for argument in sys.argv[1:3])


class Reader:
    """Somebody who does what the page says."""

    def __init__(self, home):
        self.home = home
        self.place = SOURCE
        self.printed = ""
        self.missing = []
        self.written = set()

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
        self.missing += [line for line in text.splitlines() if line != "..." and line not in self.printed]

    def find(self, file, text):
        if text not in (SOURCE / file).read_text(encoding="utf-8"):
            self.missing.append(f"of {file}:\n{text}")

    def follow(self, page):
        for file, language, text in BLOCK.findall(page):
            if language == "sh":
                self.run(text)
            elif language == "text":
                self.compare(text)
            elif not file:
                sys.exit(f"no line above this block of {language} names its file:\n{text}")
            elif file.startswith(("firmware/", "platform/")):
                self.find(file, text)
            else:
                with (self.place / file).open("w" if file not in self.written else "a", encoding="utf-8") as written:
                    written.write(text)
                self.written.add(file)


def read(name, check):
    """Follows the page docs/NAME in a new home folder, then lets `check` look at the reader."""
    page = (SOURCE / "docs" / name).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="t3vp-how-to-") as home:
        reader = Reader(pathlib.Path(home))
        reader.follow(page)
        if reader.missing:
            sys.exit("the page shows what is not there:\n" + "\n".join(reader.missing) + "\nprinted:\n" + reader.printed)
        check(reader)
