"""Wrong descriptions of workloads are refused with one line; what a good one gives compiles outside of the checkout as C
and C++, and reads back what it has written.

  workloads_test.py SOURCE_DIRECTORY
"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
GOOD = {
    "workload": "stencil", "text": "A stencil.", "given_by": "stencil",
    "methods": [{"name": "in-order", "program": "stencil", "text": "One after the other."}],
    "enumerations": [{"enumeration": "edge", "values": {"wrap": "T3_WRAP", "clamp": "T3_CLAMP"}}],
    "structures": [{"structure": "stencil", "key": "stencil", "text": "Its shape.", "arguments": [
        {"name": "points", "type": "u32", "range": [1, 99], "text": "Points."},
        {"name": "steps", "type": "u64", "range": [1, 1000], "default": 7, "text": "Steps."},
        {"name": "edge", "type": "edge", "default": "clamp", "text": "Edge."},
        {"name": "element", "type": "element", "values": ["fp16", "fp32"], "default": "fp32", "text": "Element."},
        {"name": "upwards", "key": "order", "type": "bool", "words": ["down", "up"], "default": "down", "text": "Order."},
        {"name": "tile", "type": "tile", "default_text": "chosen", "text": "Tile."},
        {"name": "weight", "type": "f64", "range": [0, 2], "default": 0.5, "text": "Weight."},
        {"name": "share", "type": "f64", "range": [0, 1], "default": 0.25, "firmware": False, "text": "Share."},
        {"name": "odd", "type": "u32", "schema": {"type": ["integer", "string"]}, "text": "Odd."},
        {"name": "sides", "type": "u32[3]", "derived": True, "text": "Sides."},
        {"name": "last", "type": "bool", "derived": True, "text": "Last."}]}],
    "keys": [{"name": "mode", "type": "words", "values": ["a", "b"], "default": "a", "text": "Mode."}],
}
PROGRAM = """
#include <stdio.h>
#include "t3/workloads/stencil.h"
int main(void) {
  unsigned char bytes[T3_STENCIL_RUN_BYTES];
  struct t3_stencil s, r;
  struct t3_run run = {0, 0, 0, "stencil", bytes, sizeof bytes}, other = run, nothing = run;
  other.workload = "gemm";
  nothing.workload = NULL;
  s.points = 0x01020304; s.steps = 0x1122334455667788; s.edge = T3_CLAMP; s.element = T3_FP32; s.upwards = true;
  s.tile_rows = 5; s.tile_columns = 6; s.weight = 1.5; s.odd = 9; s.last = true;
  s.sides[0] = 1; s.sides[1] = 2; s.sides[2] = 3;
  t3_stencil_to(&s, bytes);
  for (unsigned i = 0; i < sizeof bytes; ++i) printf("%02x", bytes[i]);
  if (t3_stencil_of(&run, &r) != T3_OK || r.points != s.points || r.steps != s.steps || r.edge != s.edge) return 1;
  if (r.element != s.element || !r.upwards || r.tile_rows != 5 || r.tile_columns != 6 || r.odd != 9) return 2;
  if (!(r.weight >= 1.5 && r.weight <= 1.5) || r.sides[2] != 3 || !r.last) return 3;
  if (t3_stencil_of(&other, &r) == T3_OK || t3_stencil_of(&nothing, &r) == T3_OK) return 4;
  run.argument_bytes -= 1;
  return t3_stencil_of(&run, &r) == T3_INVALID_ARGUMENT ? 0 : 5;
}
"""
BYTES = ("04030201" "8877665544332211" "01000000" "02000000" "01" "05000000" "06000000" "000000000000f83f" "09000000"
         "01000000" "02000000" "03000000" "01")
READER = """
#include <cstdio>
#include "workloads/stencil_arguments.h"
using namespace t3vp;
int main() {
  t3_stencil s{};
  StencilSettings more;
  s.tile_rows = 3;
  read_stencil(nlohmann::json{{"points", 4}}, s, more);
  std::printf("%u %u %s\\n", s.tile_rows, s.points, json_of(s, more).dump().c_str());
  read_stencil(nlohmann::json{{"points", 4}, {"steps", 8}, {"edge", "wrap"}, {"element", "fp16"}, {"order", "up"},
                              {"tile", "16x128"}, {"weight", 2}, {"share", 1}}, s, more);
  std::printf("%u %u %s\\n", s.tile_rows, s.tile_columns, json_of(s, more).dump().c_str());
  std::printf("%s %zu\\n", packed(s).name.c_str(), packed(s).bytes.size());
}
"""
READ = """0 4 {"edge":"clamp","element":"fp32","order":"down","points":4,"share":0.25,"steps":7,"tile":"0x0","weight":0.5}
16 128 {"edge":"wrap","element":"fp16","order":"up","points":4,"share":1.0,"steps":8,"tile":"16x128","weight":2.0}
stencil 54
"""


class Workloads(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.directory = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def generate(self, *descriptions, options=()):
        files = []
        for description in descriptions:
            file = self.directory / description["workload"] / f"{description['workload']}.arguments.json"
            file.parent.mkdir(exist_ok=True)
            file.write_text(json.dumps(description), encoding="utf-8")
            files.append(str(file))
        return subprocess.run([sys.executable, "-B", SOURCE / "models/registers/generate_workloads.py", *files, *options],
                              capture_output=True, text=True, check=False)

    def require_refused(self, expected, *descriptions):
        result = self.generate(*descriptions)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1), result.stderr)
        self.assertIn(".arguments.json", result.stderr)
        self.assertIn(expected, result.stderr)

    def test_refusals(self):
        for expected, change in (
                ("argument points: type \"u24\" must be one of u32", lambda d, a: a[0].update(type="u24")),
                ("argument points: a number that a run file says has a \"range\"", lambda d, a: a[0].pop("range")),
                ("argument points: range [9, 1] must be [least, most]", lambda d, a: a[0].update(range=[9, 1])),
                ("argument points: range [1, 4294967296] does not fit in u32",
                 lambda d, a: a[0].update(range=[1, 1 << 32])),
                ("argument steps: default 1001 is nothing that", lambda d, a: a[1].update(default=1001)),
                ("argument edge: default \"none\" is nothing that", lambda d, a: a[2].update(default="none")),
                ("argument element: \"values\" must be some of fp16, bf16, fp32",
                 lambda d, a: a[3].update(values=["fp8"])),
                ("argument upwards: \"words\" must be those of false and of true",
                 lambda d, a: a[4].update(words=["up"])),
                ("argument sides: an array that a run file says has a \"schema\"",
                 lambda d, a: a[9].update(derived=False, range=[0, 1])),
                ("argument last: is derived: a run file says nothing", lambda d, a: a[10].update(default=False)),
                ("argument last: is derived and no firmware's", lambda d, a: a[10].update(firmware=False)),
                ("structure stencil: two arguments are named points", lambda d, a: a[1].update(name="points")),
                ("structure stencil: two keys are named points", lambda d, a: a[1].update(key="points")),
                ("argument \"float\" must be a name that C and C++ can have", lambda d, a: a[0].update(name="float")),
                ("structure stencil: has no key, so all", lambda d, a: d["structures"][0].pop("key")),
                ("enumeration edge: \"values\" must be an object", lambda d, a: d["enumerations"][0].update(values={})),
                ("methods: method \"In Order\" must be", lambda d, a: d["methods"][0].update(name="In Order")),
                ("has no method", lambda d, a: d["methods"].clear()),
                ("given_by \"other\" must be one of its keys", lambda d, a: d.update(given_by="other")),
                ("builds_on \"gemm\", which there is not", lambda d, a: d.update(builds_on=["gemm"])),
                ("builds on itself by stencil -> stencil", lambda d, a: d.update(builds_on=["stencil"])),
                ("uses \"tp\": a key of a workload that it builds on", lambda d, a: d.update(uses=["tp"])),
                ("unknown \"size\"", lambda d, a: a[0].update(size=2))):
            with self.subTest(expected):
                description = copy.deepcopy(GOOD)
                change(description, description["structures"][0]["arguments"])
                self.require_refused(expected, description)

    def other(self, name, **changes):
        arguments = [{"name": "size", "type": "u32", "range": [1, 2], "text": "Size."}]
        return {"workload": name, "text": "Other.", "builds_on": [], "given_by": name,
                "methods": [{"name": "in-order", "program": name, "text": "One."}],
                "structures": [{"structure": name, "key": name, "text": "It.", "arguments": arguments}], **changes}

    def test_refusals_of_several(self):
        self.require_refused("builds on itself by", GOOD, self.other("other", builds_on=["third"]),
                             self.other("third", builds_on=["other"]))
        method = [{"name": "x", "program": "stencil", "text": "X."}]
        self.require_refused("program stencil is already other's", GOOD, self.other("other", methods=method))
        key = [{"name": "mode", "type": "text", "text": "Mode."}]
        self.require_refused("key mode is already other's", GOOD, self.other("other", keys=key))

    def test_programs(self):
        self.assertEqual(self.generate(GOOD, options=["--c", str(self.directory / "c")]).stderr, "")
        include = ["-I", self.directory / "c", "-I", SOURCE / "abi/include", "-I", SOURCE / "firmware/include",
                   "-I", self.generated()]
        strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Werror"]
        for compiler, suffix, options in (("cc", "c", ["-std=c11"]), ("c++", "cpp", ["-std=c++17", "-Wold-style-cast"])):
            source, program = self.directory / f"main.{suffix}", self.directory / f"program_{suffix}"
            source.write_text(PROGRAM, encoding="utf-8")
            subprocess.run([compiler, *options, *strict, *include, source, "-o", program], check=True)
            output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
            self.assertEqual(output, BYTES)

    def test_readers(self):
        directory = str(self.directory / "gen")
        self.assertEqual(self.generate(GOOD, options=["--c", directory, "--cpp", directory]).stderr, "")
        (self.directory / "workloads").symlink_to(SOURCE / "platform/workloads")
        include = ["-I", directory, "-I", SOURCE / "abi/include", "-I", SOURCE / "firmware/include", "-I", self.generated(),
                   "-I", self.directory]
        source, program = self.directory / "reader.cpp", self.directory / "reader"
        source.write_text(READER, encoding="utf-8")
        subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", *include, source, "-o", program], check=True)
        self.assertEqual(subprocess.run([program], check=True, capture_output=True, text=True).stdout, READ)

    def generated(self):
        """Headers of registers and enumerations."""
        scripts = [sys.executable, "-B", SOURCE / "models/registers/generate.py", *sorted(SOURCE.glob("models/*/*.registers.json")),
                   "--enumerations", *sorted(SOURCE.glob("models/*/*.enumeration.json")), "--device", SOURCE / "models/gpu.json",
                   "--c", self.directory / "registers"]
        subprocess.run([str(word) for word in scripts], check=True)
        return self.directory / "registers"

    def test_schema_and_page(self):
        schema, page = self.directory / "run.schema.json", self.directory / "page.md"
        schema.write_text('{\n  "properties": {\n    "method": {"old": 1},\n    "workload": {"old": {"}": 2}},\n    "seed": {}\n  }\n}\n')
        self.assertEqual(self.generate(GOOD, options=["--schema", str(schema), "--docs", str(page)]).stderr, "")
        properties = json.loads(schema.read_text())["properties"]
        self.assertEqual(list(properties), ["method", "workload", "seed"])
        self.assertEqual(properties["method"]["enum"], ["in-order"])
        stencil = properties["workload"]["properties"]["stencil"]
        self.assertEqual(stencil["required"], ["points", "odd"])
        self.assertEqual(list(stencil["properties"]), ["points", "steps", "edge", "element", "order", "tile", "weight",
                                                       "share", "odd"])
        self.assertEqual(stencil["properties"]["element"]["enum"], ["fp16", "fp32"])
        self.assertEqual(properties["workload"]["properties"]["mode"]["enum"], ["a", "b"])
        self.assertIn("| `order` | `down`, `up` |  |  | down | Order. |", page.read_text())
        check = ["--check-schema", str(schema), "--check-docs", str(page)]
        self.assertEqual(self.generate(GOOD, options=check).returncode, 0)
        page.write_text(page.read_text() + "more\n")
        self.require_stale(check, "page.md")
        page.unlink()
        self.require_stale(check, "page.md")
        schema.write_text(schema.read_text().replace('"in-order"', '"other"'))
        self.require_stale(check, "run.schema.json")

    def require_stale(self, check, file):
        result = self.generate(GOOD, options=check)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1), result.stderr)
        self.assertIn(file, result.stderr)


if __name__ == "__main__":
    unittest.main()
