"""Wrong descriptions of parameters are refused with one line. A good one gives a structure, a reader, a schema, a row of
the reference and a row of the table of keys, each with what the description says."""

import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = sys.argv.pop(1)
GENERATOR = os.path.join(SOURCE, "models/registers/generate_parameters.py")
GOOD = {
    "parameters": "pump", "section": "pump", "struct": "plant::PumpParameters", "text": "A pump.",
    "fields": [
        {"name": "strokes", "type": "u32", "unit": "strokes", "range": [1, 64], "power_of_two": True, "default": 4,
         "required": True, "text": "Strokes of a cycle.", "source": "data sheet"},
        {"name": "delay_ns", "type": "time", "range": [0, 100], "default": 2.5, "same_on_all_gpus": True,
         "text": "Time to the first stroke."},
        {"name": "buffer_KiB", "type": "bytes", "bits": 32, "range": [1, 64], "default": 3, "text": "Its buffer."},
        {"name": "capacity_MiB", "type": "bytes", "fractions": True, "range": [">0", 8], "default": 0.5, "text": "Its tank."},
        {"name": "clock_GHz", "member": "period", "type": "period", "range": [0.5, 4], "default": 2, "text": "Its clock."},
        {"name": "mode", "type": "enumeration", "enumeration": "Mode", "values": ["by-hand", "by-wire"],
         "default": "by-wire", "text": "How it is driven."},
        {"name": "bands", "type": "list", "of": "double", "count": 2, "range": [0, 9], "default": [1, 2.5], "text": "Bands."},
        {"name": "limit", "type": "u64", "range": [1, 9], "default": 0, "default_text": "none", "text": "Its limit.",
         "formerly": "old.limit"},
        {"name": "label", "type": "text", "member": None, "default": "x", "text": "Read by hand."},
    ],
}
TUNING = {
    "parameters": "mill", "language": "c", "section": "kernels.mill", "text": "A kernel.",
    "fields": [{"name": "block_bytes", "type": "u32", "range": [32, 64], "multiple_of": 32, "default": 32,
                "required": True, "text": "Its block."},
               {"name": "step_ns", "type": "time", "range": [0, 9], "default": 1.5, "text": "Its step."}],
}
SKELETON = {"type": "object", "additionalProperties": False, "required": ["name"],
            "definitions": {"part": {"$described": "pump", "$only": ["strokes"], "$optional": True}},
            "properties": {"name": {"type": "string"}, "pump": {"$described": "pump"},
                           "kernels": {"$described": "kernels.*"}}}
PROGRAM = """
#include "pump/pump_parameters.h"
int main() {
  const t3vp::plant::PumpParameters p;
  return !(p.strokes == 4 && p.delay == 2500 && p.buffer_bytes == 3072 && p.capacity_bytes == 524288 && p.period == 500 &&
           p.mode == t3vp::plant::Mode::by_wire && p.bands[1] == 2.5 && p.limit == 0 && sizeof p.buffer_bytes == 4);
}
"""


class Parameters(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.directory = self.temporary.name

    def tearDown(self):
        self.temporary.cleanup()

    def write(self, name, content):
        file = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(content if isinstance(content, str) else json.dumps(content))
        return file

    def read(self, name):
        with open(os.path.join(self.directory, name), encoding="utf-8") as stream:
            return stream.read()

    def generate(self, *descriptions, skeleton=None, options=()):
        files = [self.write(f"{d['parameters']}/{name or d['parameters']}.parameters.json", d) for d, name in descriptions]
        skeletons = ["--skeletons", self.write("system.skeleton.json", skeleton)] if skeleton else []
        at = [part for option in ("cpp", "c", "readers", "schemas") for part in (f"--{option}", self.directory)]
        at += ["--docs", os.path.join(self.directory, "keys.md"), "--keys", os.path.join(self.directory, "keys.cpp")]
        return subprocess.run([sys.executable, "-B", GENERATOR, *files, *skeletons, *(options or at)],
                              capture_output=True, text=True, check=False)

    def refused(self, expected, result):
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(expected, result.stderr)

    def test_refusals(self):
        for expected, change in (
                ("unknown \"rang\"", lambda d, f: f[0].update(rang=[1, 2])),
                ("field strokes: \"text\" is missing", lambda d, f: f[0].pop("text")),
                ("field strokes: type \"u24\" must be one of u32", lambda d, f: f[0].update(type="u24")),
                ("field strokes: is a number and needs a \"range\"", lambda d, f: f[0].pop("range")),
                ("field strokes: range [64, 1]", lambda d, f: f[0].update(range=[64, 1])),
                ("field strokes: range [1]", lambda d, f: f[0].update(range=[1])),
                ("field strokes: default 65 is none", lambda d, f: f[0].update(default=65)),
                ("field strokes: default 1.5 is none", lambda d, f: f[0].update(default=1.5)),
                ("field strokes: \"required\" must be true or false", lambda d, f: f[0].update(required="yes")),
                ("field strokes: member \"int\"", lambda d, f: f[0].update(member="int")),
                ("field delay_ns: power_of_two is for whole numbers", lambda d, f: f[1].update(power_of_two=True)),
                ("field delay: is a time, so its name must end", lambda d, f: f[1].update(name="delay", unit="ns")),
                ("field buffer: is of type bytes, so its name", lambda d, f: f[2].update(name="buffer", unit="B")),
                ("field capacity_MiB: default 0 is none", lambda d, f: f[3].update(default=0)),
                ("field clock_ns: is a clock's period", lambda d, f: f[4].update(name="clock_ns")),
                ("field mode: default \"by-foot\" is none", lambda d, f: f[5].update(default="by-foot")),
                ("field mode: is an enumeration", lambda d, f: f[5].pop("values")),
                ("field bands: is a list: \"of\"", lambda d, f: f[6].pop("of")),
                ("field bands: default [1] is none", lambda d, f: f[6].update(default=[1])),
                ("field limit: default 0 is none that a file may have", lambda d, f: f[7].pop("default_text")),
                ("field strokes: two fields have this name", lambda d, f: f.append(dict(f[0], member="other"))),
                ("field more: member strokes is that of strokes", lambda d, f: f.append(dict(f[0], name="more", member="strokes"))),
                ("\"fields\" must be an array", lambda d, f: d.update(fields=[])),
                ("language 'rust'", lambda d, f: d.update(language="rust")),
                ("file 'disk'", lambda d, f: d.update(file="disk"))):
            description = copy.deepcopy(GOOD)
            change(description, description["fields"])
            with self.subTest(expected):
                self.refused(expected, self.generate((description, None)))

    def test_a_description_has_its_name(self):
        self.refused("must be named pump.parameters.json", self.generate((GOOD, "valve")))

    def test_a_key_is_described_once(self):
        other = {**copy.deepcopy(GOOD), "parameters": "valve", "struct": "plant::Valve"}
        self.refused("field strokes: ", self.generate((GOOD, None), (other, None)))
        self.refused("is already described by", self.generate((GOOD, None), (dict(other, struct=GOOD["struct"]), None)))

    def test_every_section_has_a_place(self):
        skeleton = copy.deepcopy(SKELETON)
        del skeleton["properties"]["kernels"]
        self.refused("no place for section 'kernels.mill'", self.generate((GOOD, None), (TUNING, None), skeleton=skeleton))
        self.refused("no description is of a section below 'kernels'", self.generate((GOOD, None), skeleton=SKELETON))
        skeleton["properties"]["engine"] = {"$described": "engine"}
        self.refused("no description is of section 'engine'", self.generate((GOOD, None), skeleton=skeleton))

    def good(self):
        result = self.generate((GOOD, None), (TUNING, None), skeleton=SKELETON)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_the_structure_has_the_defaults_in_its_units(self):
        self.good()
        program = self.write("main.cpp", PROGRAM)
        binary = os.path.join(self.directory, "main")
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{self.directory}",
                        f"-I{SOURCE}/models", program, "-o", binary], check=True)
        self.assertEqual(subprocess.run([binary], check=False).returncode, 0)

    def test_the_structure_of_a_kernel_is_c(self):
        self.good()
        program = self.write("main.c", '#include "t3/kernel_parameters.h"\nint main(void) {\n'
                             "  const struct t3_kernel_parameters p = t3_default_kernel_parameters();\n"
                             "  return !(p.mill.block_bytes == 32 && p.mill.step_ns == 1.5);\n}\n")
        binary = os.path.join(self.directory, "main")
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{self.directory}", program,
                        "-o", binary], check=True)
        self.assertEqual(subprocess.run([binary], check=False).returncode, 0)

    def test_the_schema(self):
        self.good()
        schema = json.loads(self.read("system.schema.json"))
        pump = schema["properties"]["pump"]
        self.assertEqual(pump["required"], ["strokes"])
        self.assertFalse(pump["additionalProperties"])
        expected = {
            "strokes": {"type": "integer", "minimum": 1, "maximum": 64},
            "delay_ns": {"type": "number", "minimum": 0, "maximum": 100, "default": 2.5},
            "buffer_KiB": {"type": "integer", "minimum": 1, "maximum": 64, "default": 3},
            "capacity_MiB": {"type": "number", "exclusiveMinimum": 0, "maximum": 8, "default": 0.5},
            "clock_GHz": {"type": "number", "minimum": 0.5, "maximum": 4, "default": 2},
            "mode": {"enum": ["by-hand", "by-wire"], "default": "by-wire"},
            "bands": {"type": "array", "minItems": 2, "maxItems": 2, "default": [1, 2.5],
                      "items": {"type": "number", "minimum": 0, "maximum": 9}},
            "limit": {"type": "integer", "minimum": 1, "maximum": 9},
            "label": {"type": "string", "minLength": 1, "default": "x"}}
        for value in pump["properties"].values():
            del value["description"]
        self.assertEqual(pump["properties"], expected)
        self.assertEqual(list(schema["definitions"]["part"]["properties"]), ["strokes"])
        self.assertNotIn("required", schema["definitions"]["part"])
        self.assertEqual(schema["properties"]["kernels"]["required"], ["mill"])
        self.assertEqual(schema["required"], ["name"])

    def test_the_reader_takes_what_has_a_member(self):
        self.good()
        reader = self.read("parameter_readers.cpp")
        for line in ('read_value(section, "strokes", p.strokes);', 'read_time(section, "delay_ns", 1, p.delay);',
                     'read_bytes(section, "buffer_KiB", 1024.0, p.buffer_bytes);', 'read_period(section, "clock_GHz", p.period);',
                     'read_enumerator(section, "mode", {"by-hand", "by-wire"}, p.mode);',
                     'read_mill(kernels.at("mill"), p.mill);'):
            self.assertIn(line, reader)
        self.assertNotIn("label", reader)

    def test_the_reference_and_the_table(self):
        self.good()
        page = self.read("keys.md")
        self.assertIn("| `strokes` | strokes | 1 to 64, a power of two | required | Strokes of a cycle. | data sheet |", page)
        self.assertIn("| `delay_ns` | ns | 0 to 100 | 2.5 | Time to the first stroke. *Same on all GPUs.* |  |", page)
        self.assertIn("| `limit` |  | 1 to 9 | none | Its limit. |  |", page)
        self.assertIn("| `capacity_MiB` | MiB | above 0, at most 8 | 0.5 |", page)
        self.assertIn("## system.kernels.mill", page)
        table = self.read("keys.cpp")
        self.assertIn('{"system", "pump", "limit", "system.pump.limit", "", "1 to 9", "none", "Its limit.", "old.limit", "", '
                      "false, false, 0}", table)
        self.assertIn('"Its block.", "", "", false, false, 32}', table)

    def test_keys_of_a_schema(self):
        path = os.path.join(self.directory, "run.schema.json")
        schema = {"required": ["rate_GBps"], "definitions": {"name": {"type": "string"}}, "properties": {
            "rate_GBps": {"type": "number", "minimum": 1, "maximum": 9, "description": "A rate."},
            "valves": {"type": "array", "maxItems": 3, "description": "Valves.", "items": {
                "properties": {"name": {"$ref": "#/definitions/name", "description": "Its name."}}}},
            "steps": {"type": "integer", "minimum": 1, "unit": "steps", "default": 7, "description": "Steps."},
            "mode": {"enum": ["a", "b"], "description": "Its mode. Default: that of the day."}}}
        self.write("run.schema.json", schema)
        both = (GOOD, None), (TUNING, None)
        options = ["--key-schemas", path, "--docs", os.path.join(self.directory, "keys.md"),
                   "--keys", os.path.join(self.directory, "keys.cpp")]
        self.assertEqual(self.generate(*both, skeleton=SKELETON, options=options).returncode, 0)
        page = self.read("keys.md")
        for row in ("| `rate_GBps` | GB/s | 1 to 9 | required | A rate. |", "| `valves` |  | list of at most 3 | none | Valves. |",
                    "| `valves[].name` |  | text | none | Its name. |", "| `steps` | steps | at least 1 | 7 | Steps. |",
                    "| `mode` |  | a or b | that of the day | Its mode. |"):
            self.assertIn(row, page)
        self.assertIn('{"run", "valves[]", "name", "valves[].name", "", "text", "none", "Its name.", "", "", false, false, 0}',
                      self.read("keys.cpp"))
        del schema["properties"]["steps"]["description"]
        self.write("run.schema.json", schema)
        self.refused('run.schema.json: steps: a "description" is missing',
                     self.generate(*both, skeleton=SKELETON, options=options))
        os.rename(path, os.path.join(self.directory, "walk.schema.json"))
        options[1] = os.path.join(self.directory, "walk.schema.json")
        self.refused("walk.schema.json: must be a schema or skeleton of one of run, experiment, models, system",
                     self.generate(*both, skeleton=SKELETON, options=options))

    def test_keys_of_a_skeleton(self):
        """Those that no description has."""
        skeleton = {"type": "object", "required": ["name"], "definitions": SKELETON["definitions"], "properties": {
            "$schema": {"type": "string"}, "name": {"type": "string", "description": "Its name."},
            "pump": {"$described": "pump", "properties": {"part": {"$ref": "#/definitions/part"}, "end": {
                "$ref": "#/definitions/end", "description": "Where it ends."}}}, "kernels": {"$described": "kernels.*"}}}
        skeleton["definitions"]["end"] = {"type": "integer", "minimum": 1, "maximum": 9}
        self.write("system.skeleton.json", skeleton)
        path = os.path.join(self.directory, "system.skeleton.json")
        options = ["--key-schemas", path, "--docs", os.path.join(self.directory, "keys.md"),
                   "--keys", os.path.join(self.directory, "keys.cpp")]
        result = self.generate((GOOD, None), (TUNING, None), skeleton=skeleton, options=options)
        self.assertEqual(result.returncode, 0, result.stderr)
        page = self.read("keys.md")
        of_skeleton = page[page.index("## The system file"):page.index("## system.pump")]
        self.assertEqual([line.split("`")[1] for line in of_skeleton.splitlines() if line.startswith("| `")], ["name", "pump.end"])
        self.assertIn("| `pump.end` |  | 1 to 9 | none | Where it ends. |", of_skeleton)

    def test_drift_is_seen(self):
        self.good()
        check = ["--check-docs", os.path.join(self.directory, "keys.md"), "--check-schemas", self.directory]
        both = (GOOD, None), (TUNING, None)
        self.assertEqual(self.generate(*both, skeleton=SKELETON, options=check).returncode, 0)
        changed = copy.deepcopy(GOOD)
        changed["fields"][0]["range"] = [1, 128]
        self.refused("build the target parameter_reference",
                     self.generate((changed, None), (TUNING, None), skeleton=SKELETON, options=check[:2]))
        self.refused("system.schema.json: differs", self.generate((changed, None), (TUNING, None), skeleton=SKELETON,
                                                                  options=check[2:]))


unittest.main()
