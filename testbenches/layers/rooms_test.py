"""Workloads build on each other in no circle, and a room includes only rooms that it builds on, and shared.

  rooms_test.py SOURCE_DIRECTORY
"""

import json
import pathlib
import re
import sys
import unittest

ROOMS = pathlib.Path(sys.argv.pop(1)) / "platform/workloads"
INCLUDE = re.compile(r'^\s*#\s*include\s+"(?:workloads/)?([a-z_]+)/[^"]+"', re.MULTILINE)
GENERATED = re.compile(r'^\s*#\s*include\s+"(?:t3/workloads/([a-z_]+)\.h|workloads/([a-z_]+)_arguments\.h)"', re.MULTILINE)


def rooms():
    return {file.parent.name: json.loads(file.read_text(encoding="utf-8")).get("builds_on", [])
            for file in sorted(ROOMS.glob("*/*.arguments.json"))}


def circle(builds_on, name, way=()):
    """A way from a room back to itself; none if it is empty."""
    if name in way:
        return (*way, name)
    for below in builds_on[name]:
        if found := circle(builds_on, below, (*way, name)):
            return found
    return ()


def includes(text):
    found = set(INCLUDE.findall(text))
    for of_program, of_platform in GENERATED.findall(text):
        found.add(of_program or of_platform)
    return found


def foreign(builds_on, room, text):
    """Rooms that a file of this room includes and must not."""
    return sorted((includes(text) & (builds_on.keys() | {"shared"})) - {room, "shared", *builds_on.get(room, ())})


class Rooms(unittest.TestCase):
    def test_all_rooms_are_found(self):
        self.assertLessEqual({"gemm", "layer", "collective", "embedding", "gemv", "experts"}, rooms().keys())

    def test_no_circle(self):
        builds_on = rooms()
        for name in builds_on:
            self.assertEqual(circle(builds_on, name), ())

    def test_a_circle_is_found(self):
        self.assertEqual(circle({"a": ["b"], "b": ["c"], "c": ["a"]}, "a"), ("a", "b", "c", "a"))

    def test_a_room_includes_what_it_builds_on(self):
        builds_on = rooms()
        for folder in sorted(path for path in ROOMS.iterdir() if path.is_dir()):
            for file in sorted(folder.rglob("*")):
                if file.suffix in (".c", ".h", ".cpp"):
                    extra = foreign(builds_on, folder.name, file.read_text(encoding="utf-8"))
                    self.assertEqual(extra, [], f"{file} includes rooms that {folder.name} does not build on")

    def test_a_foreign_include_is_found(self):
        builds_on = {"layer": ["gemm"], "gemm": [], "gemv": []}
        text = '#include "workloads/gemm/nodes.h"\n#include "t3/workloads/gemv.h"\n#include "workloads/shared/x.h"\n'
        self.assertEqual(foreign(builds_on, "layer", text), ["gemv"])
        self.assertEqual(foreign(builds_on, "gemm", text), ["gemv"])
        self.assertEqual(foreign(builds_on, "shared", text), ["gemm", "gemv"])


if __name__ == "__main__":
    unittest.main()
