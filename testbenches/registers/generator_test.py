"""The generator refuses every wrong description with one line, and the firmware's constants match the descriptions."""

import copy
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = sys.argv.pop(1)
GENERATOR = os.path.join(SOURCE, "models/registers/generate.py")
STATUS = os.path.join(SOURCE, "models/registers/status.json")

GOOD = {
    "block": "sensor", "text": "Test.",
    "registers": [
        {"name": "control", "offset": "0x0", "width": 32, "access": "RW", "text": "Control.", "fields": [
            {"name": "mode", "bits": [1, 0], "values": {"off": 0, "on": 1}, "text": "Mode."},
            {"name": "code", "bits": [15, 8], "access": "RO", "enumeration": "status", "text": "Code."}]},
        {"name": "lane", "offset": 8, "width": 64, "access": "RW", "count": 2, "stride": 8, "text": "Lane."},
    ],
}


def run(*arguments):
    return subprocess.run([sys.executable, "-B", GENERATOR, *arguments], capture_output=True, text=True, check=False)


class Refusals(unittest.TestCase):
    def generate(self, description, name="sensor"):
        with tempfile.TemporaryDirectory() as directory:
            file = os.path.join(directory, f"{name}.registers.json")
            with open(file, "w", encoding="utf-8") as stream:
                stream.write(description if isinstance(description, str) else json.dumps(description))
            return run(file, "--enumeration", STATUS, "--cpp", directory, "--c", directory)

    def refused(self, expected, change, name="sensor"):
        """`change` spoils a good description."""
        description = copy.deepcopy(GOOD)
        control, lane = description["registers"]
        change(description, control, lane)
        self.assert_error(self.generate(description, name), expected)

    def assert_error(self, result, *expected):
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for text in ("registers.json", *expected):
            self.assertIn(text, result.stderr)

    def test_a_good_description_is_taken(self):
        result = self.generate(GOOD)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_registers(self):
        for expected, change in (
                ("register control: width 16", lambda d, c, l: c.update(width=16)),
                ("register lane: offset 0xc must be a multiple of its 8", lambda d, c, l: l.update(offset=12)),
                ("register lane: overlaps register control", lambda d, c, l: l.update(offset=0)),
                ("register control: two registers have this name", lambda d, c, l: l.update(name="control")),
                ("register lane: ends at 0x10008", lambda d, c, l: l.update(offset="0xfff8")),
                ("register lane: stride 4", lambda d, c, l: l.update(stride=4)),
                ("register lane: count must be 1", lambda d, c, l: l.update(count=0)),
                ("register lane: \"count\" and \"stride\"", lambda d, c, l: l.pop("stride")),
                ("register lane: access \"W\"", lambda d, c, l: l.update(access="W")),
                ("register lane: reset", lambda d, c, l: l.update(reset=1 << 64)),
                ("register lane: offset \"here\"", lambda d, c, l: l.update(offset="here")),
                ("register lane: unknown \"ofset\"", lambda d, c, l: l.update(ofset=0)),
                ("register lane: \"text\" is missing", lambda d, c, l: l.pop("text")),
                ("register lane: lock \"idle\"", lambda d, c, l: l.update(lock="idle")),
                ("register lane: is RO, so there is nothing to lock",
                 lambda d, c, l: l.update(lock="busy", access="RO")),
                ("register lane: \"sync\" must be", lambda d, c, l: l.update(sync="yes")),
                ("register Lane: register \"Lane\" must be snake_case", lambda d, c, l: l.update(name="Lane")),
                ("\"registers\" must be an array", lambda d, c, l: d.update(registers=[]))):
            with self.subTest(expected):
                self.refused(expected, change)

    def test_fields(self):
        def mode(**changes):
            return lambda d, c, l: c["fields"][0].update(changes)

        for expected, change in (
                ("register control, field mode: bit 32 lies outside", mode(bits=[32, 0])),
                ("register control, field mode: bits [0, 1]", mode(bits=[0, 1])),
                ("register control: fields mode and code overlap", mode(bits=[8, 0])),
                ("register control: two fields are named code", mode(name="code")),
                ("field mode: value on = 4 does not fit in 2 bits", mode(values={"off": 0, "on": 4})),
                ("field mode: values off and on are both 0", mode(values={"off": 0, "on": 0})),
                ("field mode: has both", mode(enumeration="status")),
                ("field mode: is W1C and cannot", mode(access="W1C")),
                ("field code: enumeration \"stat\"", lambda d, c, l: c["fields"][1].update(enumeration="stat")),
                ("field code: is RO in a register that is WO", lambda d, c, l: c.update(access="WO")),
                ("register control: reset 0x80 sets bits 0x80", lambda d, c, l: c.update(reset=0x80)),
                ("register control: reset gives field mode the value 3", lambda d, c, l: c.update(reset=3))):
            with self.subTest(expected):
                self.refused(expected, change)

    def test_names_that_would_not_compile(self):
        self.refused("register sensor: has fields and so cannot", lambda d, c, l: c.update(name="sensor"))
        self.refused("field control: has values and so cannot",
                     lambda d, c, l: c["fields"][0].update(name="control"))
        self.refused("T3_SENSOR_CONTROL_MODE_MASK is defined twice",
                     lambda d, c, l: c["fields"][0].update(values={"off": 0, "mask": 1}))

    def test_files(self):
        self.refused("must be named sensor.registers.json", lambda d, c, l: None, name="other")
        self.assert_error(self.generate("{"), "not JSON")
        self.assert_error(self.generate(json.dumps(GOOD).replace('"off": 0', '"off": 0, "off": 1')), '"off" is given')
        self.assert_error(run("absent.registers.json"), "No such file")

    def test_blocks_and_address_map_name_the_same(self):
        files = sorted(glob.glob(os.path.join(SOURCE, "models/*/*.registers.json")))
        address_map = os.path.join(SOURCE, "models/protocol/address_map.h")
        result = run(*files[1:], "--enumeration", STATUS, "--address-map", address_map)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"block {os.path.basename(files[0]).split('.')[0]} has no", result.stderr)
        self.assert_error(run(files[0], files[0], "--enumeration", STATUS), "is already described by")


class Constants(unittest.TestCase):
    def test_offsets_masks_and_values(self):
        files = glob.glob(os.path.join(SOURCE, "models/*/*.registers.json"))
        with tempfile.TemporaryDirectory() as directory:
            self.assertEqual(run(*files, "--enumeration", STATUS, "--c", directory).returncode, 0)
            for file in files:
                with open(file, encoding="utf-8") as stream:
                    block = json.load(stream)
                with open(os.path.join(directory, "t3/registers", block["block"] + ".h"), encoding="utf-8") as stream:
                    self.check(block, stream.read())

    def check(self, block, header):
        defined = {name: int(value, 0) for name, value in
                   re.findall(r"#define (\w+) (?:UINT\d\d_C\()?(\w+?)(?:u|\))(?: |$)", header, re.MULTILINE)}
        expected = {}
        for register in block["registers"]:
            prefix = f"T3_{block['block']}_{register['name']}_".upper()
            expected[prefix + "OFFSET"] = int(str(register["offset"]), 0)
            if "count" in register:
                expected[prefix + "COUNT"] = register["count"]
                expected[prefix + "STRIDE"] = register["stride"]
            for field in register.get("fields", []):
                msb, lsb = field["bits"]
                name = prefix + field["name"].upper() + "_"
                expected[name + "SHIFT"] = lsb
                expected[name + "MASK"] = sum(1 << bit for bit in range(lsb, msb + 1))
                for value, number in field.get("values", {}).items():
                    expected[name + value.upper()] = number
        self.assertEqual(defined, expected)


if __name__ == "__main__":
    unittest.main()
