"""Does what docs/tutorials/first-registers.md says, and compares the error codes of docs/reference/errors.md with their description.

  driver_guide_test.py SOURCE_DIRECTORY BINARY_DIRECTORY

Without gdb-multiarch or the cross compiler it says so and ends with 77 (CTest: skipped), or fails when T3VP_ALL_TESTS is set.
"""

import json
import pathlib
import re
import socket
import sys
import tempfile

from gdb_session import COMPILER, GDB, require, require_tools

SOURCE, BINARY = (pathlib.Path(argument) for argument in sys.argv[1:3])
sys.path.insert(0, str(SOURCE / "testbenches/package"))
import how_to  # noqa: E402: it is another folder's


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def compare_codes():
    page = (SOURCE / "docs/reference/errors.md").read_text(encoding="utf-8")
    described = json.loads((SOURCE / "models/protocol/status.enumeration.json").read_text())["values"]
    rows = re.findall(r"^\| `T3_(\w+)` \((\d+)\) \| .+? \| .+? \|$", page, re.MULTILINE)
    expected = [(value["name"].upper(), str(value["value"])) for value in described]
    assert rows == expected, "the table of error codes is not that of status.enumeration.json"


page = (SOURCE / "docs/tutorials/first-registers.md").read_text(encoding="utf-8")
compare_codes()
require_tools(GDB, COMPILER)
require((BINARY / "t3vp-firmware.elf").exists(), "t3vp-firmware.elf")
with tempfile.TemporaryDirectory() as home:
    reader = how_to.Reader(pathlib.Path(home))
    reader.place = pathlib.Path(home)
    (reader.place / "configs").symlink_to(SOURCE / "configs")
    for section in page.split("\n## "):
        reader.follow(section.replace("3333", str(free_port())))
if reader.missing:
    sys.exit("not in what the commands have printed:\n" + "\n".join(reader.missing))
