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
STATUS = os.path.join(SOURCE, "models/protocol/status.enumeration.json")
DEVICE = os.path.join(SOURCE, "models/gpu.json")
BLOCKS = sorted(glob.glob(os.path.join(SOURCE, "models/*/*.registers.json")))
ENUMERATIONS = sorted(glob.glob(os.path.join(SOURCE, "models/*/*.enumeration.json")))

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
            return run(file, "--enumerations", STATUS, "--cpp", directory, "--c", directory)

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
                ("register lane: \"own_address\" must be true or false", lambda d, c, l: l.update(own_address=1)),
                ("an own_address is written to 64 bits", lambda d, c, l: l.update(own_address=True, access="RO")),
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
                ("field mode: has either", mode(bit_for_each="status")),
                ("field mode: enumeration \"line\" is not known",
                 lambda d, c, l: (c["fields"][0].pop("bits"), c["fields"][0].update(bit_for_each="line"))),
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

    def test_names_of_constants(self):
        self.refused("register lane_stride: it is also the constant of lane",
                     lambda d, c, l: c.update(name="lane_stride"))
        self.refused("register lane_offset: it is also the constant of lane",
                     lambda d, c, l: c.update(name="lane_offset"))

    def test_classes_have_the_offset_of_every_register(self):
        with tempfile.TemporaryDirectory() as directory:
            result = run(*BLOCKS, "--enumerations", *ENUMERATIONS, "--device", DEVICE, "--cpp", directory)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            for file in BLOCKS:
                block = read(file)
                with open(os.path.join(directory, "registers", f"{block['block']}.h"), encoding="utf-8") as stream:
                    text = stream.read()
                found = {name: int(value, 0) for name, value in re.findall(r"(\w+) = (0x[0-9a-f]+|[0-9]+)[,;]", "".join(
                    line for line in text.splitlines() if "static constexpr std::uint64_t" in line))}
                expected = {}
                for register in block["registers"]:
                    expected[f"{register['name']}_offset"] = int(str(register["offset"]), 0)
                    expected.update({f"{register['name']}_{key}": int(str(register[key]), 0) for key in ("count", "stride")
                                     if key in register})
                self.assertEqual(found, expected, file)

    def test_files(self):
        self.refused("must be named sensor.registers.json", lambda d, c, l: None, name="other")
        self.assert_error(self.generate("{"), "not JSON")
        self.assert_error(self.generate(json.dumps(GOOD).replace('"off": 0', '"off": 0, "off": 1')), '"off" is given')
        self.assert_error(run("absent.registers.json"), "No such file")

    def test_one_description_of_a_block(self):
        files = [file for file in BLOCKS if "interrupt_controller" not in file]
        self.assert_error(run(files[0], files[0], "--enumerations", STATUS), "is already described by")


def read(file):
    with open(file, encoding="utf-8") as stream:
        return json.load(stream)


class Devices(unittest.TestCase):
    """What lists the blocks of a device, its windows and its interrupt lines."""

    WINDOWS = len(read(DEVICE)["blocks"])
    LINES = sum(len(block.get("lines", [])) for block in read(DEVICE)["blocks"])

    def refused(self, expected, change, blocks=BLOCKS):
        device = read(DEVICE)
        change({block["name"]: block for block in device["blocks"]}, device)
        with tempfile.TemporaryDirectory() as directory:
            file = os.path.join(directory, "gpu.json")
            with open(file, "w", encoding="utf-8") as stream:
                json.dump(device, stream)
            result = run(*blocks, "--enumerations", *ENUMERATIONS, "--device", file, "--cpp", directory)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(expected, result.stderr)

    def test_refusals(self):
        last, next_line = self.WINDOWS - 1, self.LINES

        def lines(number):
            return [{"name": "new", "number": number, "port": "links.interrupt", "text": "Test."}]

        for expected, change in (
                ("windows: values system and links are both 0", lambda b, d: b["links"].update(window=0)),
                (f"windows: no window has number {last}, expected 0 to {last}",
                 lambda b, d: d["blocks"][last].update(window=last + 1)),
                ("lines: values dma and new are both 1", lambda b, d: b["links"].update(lines=lines(1))),
                (f"lines: no line has number {next_line}", lambda b, d: b["links"].update(lines=lines(next_line + 1))),
                ("block links, lines: \"text\" is missing",
                 lambda b, d: b["links"].update(lines=[{"name": "new", "number": next_line, "port": "new.interrupt"}])),
                ("block links, lines: port \"new interrupt\" must be",
                 lambda b, d: b["links"].update(lines=[{**lines(next_line)[0], "port": "new interrupt"}])),
                ("block links: unknown \"windw\"", lambda b, d: b["links"].update(windw=3)),
                ("block timer has no timer.registers.json",
                 lambda b, d: d["blocks"].append({"name": "timer", "window": last + 1})),
                ("block nic is missing from", lambda b, d: b["nic"].update(name="wire")),
                ("block links is spare and has a links.registers.json", lambda b, d: b["links"].update(spare="Test.")),
                ("block plugin_0, lines: unknown \"port\"",
                 lambda b, d: b["plugin_0"]["lines"][0].update(port="links.interrupt")),
                ("\"registers_base\" is missing", lambda b, d: d.pop("registers_base"))):
            with self.subTest(expected):
                self.refused(expected, change)

    def test_blocks_without_a_description(self):
        name = os.path.basename(BLOCKS[0]).split(".")[0]
        self.refused(f"block {name} has no", lambda b, d: None, BLOCKS[1:])

    def test_a_new_block_is_one_line(self):
        """Window, interrupt line, its bit in the controller, both sides' headers and the reference follow."""
        device = read(DEVICE)
        line = {"name": "sensor", "number": self.LINES, "port": "sensor.interrupt", "text": "Test."}
        device["blocks"].append({"name": "sensor", "window": self.WINDOWS, "lines": [line]})
        with tempfile.TemporaryDirectory() as directory:
            texts = {"sensor.registers.json": GOOD, "gpu.json": device}
            for file, content in texts.items():
                with open(os.path.join(directory, file), "w", encoding="utf-8") as stream:
                    json.dump(content, stream)
            result = run(*BLOCKS, os.path.join(directory, "sensor.registers.json"), "--enumerations", *ENUMERATIONS,
                         "--device", os.path.join(directory, "gpu.json"), "--cpp", directory, "--c", directory,
                         "--docs", os.path.join(directory, "page.md"))
            self.assertEqual((result.returncode, result.stderr), (0, ""))

            def holds(file, text):
                with open(os.path.join(directory, file), encoding="utf-8") as stream:
                    self.assertIn(text, stream.read())

            holds("registers/gpu.h", f"sensor = {self.WINDOWS},")
            holds("registers/gpu.h", f"sensor = {self.LINES},")
            holds("registers/catalogue.h", "address_map::Block::sensor, descriptions::sensor")
            holds("registers/interrupt_controller.h", f"Field<std::uint32_t, 0, {self.LINES + 1}> lines")
            holds("t3/gpu.h", f"T3_BLOCK_SENSOR = {self.WINDOWS},")
            holds("t3/gpu.h", f"T3_LINE_SENSOR = {self.LINES},")
            holds("page.md", f"`{0xf0000000000 + 0x10000 * self.WINDOWS:#x}` | [sensor](#sensor)")

    def test_both_sides_have_what_is_described(self):
        device = read(DEVICE)
        with tempfile.TemporaryDirectory() as directory:
            run(*BLOCKS, "--enumerations", *ENUMERATIONS, "--device", DEVICE, "--cpp", directory, "--c", directory)
            with open(os.path.join(directory, "registers/gpu.h"), encoding="utf-8") as stream:
                cpp = stream.read()
            with open(os.path.join(directory, "t3/gpu.h"), encoding="utf-8") as stream:
                firmware = stream.read()
        for block in device["blocks"]:
            self.assertRegex(cpp, rf"\b{block['name']} = {block['window']},")
            self.assertIn(f"T3_BLOCK_{block['name'].upper()} = {block['window']},", firmware)
            for line in block.get("lines", []):
                self.assertRegex(cpp, rf"\b{line['name']} = {line['number']},")
                self.assertIn(f"T3_LINE_{line['name'].upper()} = {line['number']},", firmware)
        values = {name: int(value, 0) for name, value in re.findall(r"#define T3_(\w+) UINT64_C\((\w+)\)", firmware)}
        expected = {constant["name"].upper(): int(str(constant["value"]), 0) for constant in device["constants"]}
        expected.update(REGISTERS_BASE=int(device["registers_base"], 0), BLOCK_BYTES=int(device["block_bytes"], 0))
        self.assertEqual(values, expected)


class Constants(unittest.TestCase):
    def test_offsets_masks_and_values(self):
        lines = sum(len(block.get("lines", [])) for block in read(DEVICE)["blocks"])
        with tempfile.TemporaryDirectory() as directory:
            result = run(*BLOCKS, "--enumerations", *ENUMERATIONS, "--device", DEVICE, "--c", directory)
            self.assertEqual(result.returncode, 0, result.stderr)
            for file in BLOCKS:
                with open(file, encoding="utf-8") as stream:
                    block = json.load(stream)
                with open(os.path.join(directory, "t3/registers", block["block"] + ".h"), encoding="utf-8") as stream:
                    self.check(block, stream.read(), lines)

    def check(self, block, header, lines):
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
                msb, lsb = field.get("bits", (lines - 1, 0))
                name = prefix + field["name"].upper() + "_"
                expected[name + "SHIFT"] = lsb
                expected[name + "MASK"] = sum(1 << bit for bit in range(lsb, msb + 1))
                for value, number in field.get("values", {}).items():
                    expected[name + value.upper()] = number
        self.assertEqual(defined, expected)


if __name__ == "__main__":
    unittest.main()
