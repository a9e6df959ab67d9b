"""Wrong descriptions of packets and arguments are refused with one line; what a good one gives compiles outside of the
checkout as C and C++ and reads back what it has written."""

import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = sys.argv.pop(1)
GOOD = {
    "arguments": "scale", "text": "out = factor a.",
    "fields": [
        {"name": "out", "type": "u64", "text": "Address."},
        {"name": "count", "type": "u16", "text": "Elements."},
        {"name": "factor", "type": "f32", "text": "Factor."},
        {"name": "mode", "type": "u8", "values": {"fast": 1, "exact": "0x80"}, "text": "Mode."},
    ],
}
PROGRAM = """
#include <stdio.h>
#include "t3/arguments/scale.h"
int main(void) {
  unsigned char bytes[T3_SCALE_ARGUMENTS_BYTES];
  struct t3_scale_arguments s, r;
  s.out = 0x1122334455667788; s.count = 0x99AA; s.factor = 1.5f; s.mode = T3_SCALE_ARGUMENTS_MODE_EXACT;
  t3_scale_arguments_to(&s, bytes);
  for (unsigned i = 0; i < sizeof bytes; ++i) printf("%02x", bytes[i]);
  t3_scale_arguments_read(&r, bytes);
  return r.out != s.out || r.count != s.count || r.factor != s.factor || r.mode != s.mode;
}
"""


class Structures(unittest.TestCase):
    def generate(self, description, name="scale.arguments.json"):
        """By a copy of the scripts: what is installed of them is no more."""
        scripts = os.path.join(self.directory, "generator")
        shutil.copytree(os.path.join(SOURCE, "models/registers"), scripts, dirs_exist_ok=True,
                        ignore=lambda folder, names: [n for n in names if not n.endswith(".py") and n != "generator"])
        file = os.path.join(self.directory, name)
        with open(file, "w", encoding="utf-8") as stream:
            json.dump(description, stream)
        return subprocess.run([sys.executable, "-B", os.path.join(scripts, "generate_structures.py"), file, "--c",
                               os.path.join(self.directory, "c")], capture_output=True, text=True, check=False)

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.directory = self.temporary.name

    def tearDown(self):
        self.temporary.cleanup()

    def test_refusals(self):
        for expected, change in (
                ("field count: type 'u24' must be one of u8, u16", lambda d, f: f[1].update(type="u24")),
                ("field out: two fields have this name", lambda d, f: f[1].update(name="out")),
                ("field \"Count\" must be snake_case", lambda d, f: f[1].update(name="Count")),
                ("field float: is a word of C or C++", lambda d, f: f[1].update(name="float")),
                ("field mode: value big = 256 does not fit in u8", lambda d, f: f[3].update(values={"big": 256})),
                ("field mode: values one and two are both 1", lambda d, f: f[3].update(values={"one": 1, "two": 1})),
                ("field factor: is f32 and cannot have values", lambda d, f: f[2].update(values={"one": 1})),
                ("field count: \"text\" is missing", lambda d, f: f[1].pop("text")),
                ("field count: unknown \"size\"", lambda d, f: f[1].update(size=2)),
                ("\"fields\" must be an array of one field or more", lambda d, f: f.clear()),
                ("must be named other.arguments.json", lambda d, f: d.update(arguments="other")),
                ("unknown \"entry_bytes\"", lambda d, f: d.update(entry_bytes=64)),
                ("has 4111 bytes, expected at most 4096",
                 lambda d, f: f.extend({"name": f"x{i}", "type": "u64", "text": "X."} for i in range(512)))):
            with self.subTest(expected):
                description = copy.deepcopy(GOOD)
                change(description, description["fields"])
                result = self.generate(description)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertIn("scale.arguments.json", result.stderr)
                self.assertIn(expected, result.stderr)

    def test_entries_hold_their_structure(self):
        packet = {"structure": "small", "text": "Small.", "fields": GOOD["fields"], "entry_bytes": 14}
        result = self.generate(packet, "small.structure.json")
        self.assertIn("entry_bytes 14 must be its 15 bytes or more", result.stderr)

    def test_what_it_gives(self):
        result = self.generate(GOOD)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        include = ["-I", os.path.join(self.directory, "c"), "-I", os.path.join(SOURCE, "abi/include")]
        strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Werror"]
        for compiler, suffix, options in (("cc", "c", ["-std=c11"]), ("c++", "cpp", ["-std=c++17", "-Wold-style-cast"])):
            source, program = (os.path.join(self.directory, name) for name in (f"main.{suffix}", f"program_{suffix}"))
            with open(source, "w", encoding="utf-8") as stream:
                stream.write(PROGRAM)
            subprocess.run([compiler, *options, *strict, *include, source, "-o", program], check=True)
            output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
            self.assertEqual(output, "8877665544332211" "aa99" "0000c03f" "80")


if __name__ == "__main__":
    unittest.main()
