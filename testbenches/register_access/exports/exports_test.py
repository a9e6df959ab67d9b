"""What `t3vp registers` prints for other tools is well formed and says what the descriptions say.

  exports_test.py T3VP SOURCE_DIRECTORY FIRMWARE_HEADERS CC CXX

With T3VP_SCHEMAS, a folder that has CMSIS-SVD.xsd or ieee-1685-2014/index.xsd, xmllint validates by these as well, and
has to refuse what is planted.
"""

import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

from descriptions import Descriptions, Field

T3VP, SOURCE, HEADERS, CC, CXX = sys.argv[1:6]
del sys.argv[1:6]
DESCRIBED = Descriptions(SOURCE)

# CMSIS-SVD 1.3: the elements that a parent may have, in their order; ! marks those that it must have.
SVD_ORDER = {
    "device": "vendor name! version! description! addressUnitBits! width! peripherals!",
    "peripherals": "peripheral!",
    "peripheral": "dim dimIncrement name! description baseAddress! addressBlock interrupt registers",
    "addressBlock": "offset! size! usage!",
    "interrupt": "name! description value!",
    "registers": "register!",
    "register": "dim dimIncrement name! description addressOffset! size access resetValue resetMask modifiedWriteValues "
                "writeConstraint readAction fields",
    "fields": "field!",
    "field": "name! description bitRange! access modifiedWriteValues writeConstraint readAction enumeratedValues",
    "writeConstraint": "useEnumeratedValues!",
    "enumeratedValues": "enumeratedValue!",
    "enumeratedValue": "name! description value!",
}
SVD_TEXT = {
    "name": r"[_A-Za-z][_A-Za-z0-9]*(\[%s\])?", "bitRange": r"\[[0-6]?\d:[0-6]?\d\]", "access": "read-only|write-only|read-write",
    "modifiedWriteValues": "oneToClear|oneToSet", "readAction": "clear", "useEnumeratedValues": "true",
    "usage": "registers", "value": r"\d+", "version": ".+", "description": ".+",
}
SVD_NUMBER = r"0x[0-9a-f]+|\d+"
SVD_ATTRIBUTES = {"device": {"schemaVersion": "1.3"}}  # other elements have none
# IEEE 1685-2014, likewise.
IPXACT_ORDER = {
    "component": "vendor! library! name! version! memoryMaps description",
    "memoryMaps": "memoryMap!",
    "memoryMap": "name! description addressBlock! addressUnitBits",
    "addressBlock": "name! description baseAddress! range! width! usage register",
    "register": "name! description dim addressOffset! size! volatile access field!",
    "field": "name! description bitOffset! resets bitWidth! volatile access enumeratedValues modifiedWriteValue "
             "writeValueConstraint readAction",
    "resets": "reset!", "reset": "value!",
    "enumeratedValues": "enumeratedValue!",
    "enumeratedValue": "name! value!",
    "writeValueConstraint": "useEnumeratedValues!",
}
IPXACT_TEXT = {
    "name": r"[_A-Za-z][_A-Za-z0-9]*", "access": "read-only|write-only|read-write", "modifiedWriteValue": "oneToClear|oneToSet",
    "readAction": "clear", "usage": "register", "useEnumeratedValues": "true", "volatile": "true",
    "vendor": r"[\w.-]+", "library": r"[\w.-]+", "version": r"[\w.-]+", "description": ".+",
}
IPXACT_NUMBER = r"'h[0-9a-f]+|\d+"
IPXACT = "{http://www.accellera.org/XMLSchema/IPXACT/1685-2014}"
ACCESS = {("read-write", None, None): "RW", ("read-only", None, None): "RO", ("write-only", None, None): "WO",
          ("read-write", "oneToClear", None): "W1C", ("read-write", "oneToSet", None): "W1S",
          ("read-only", None, "clear"): "RC"}


def export(option):
    return subprocess.run([T3VP, "registers", option], stdout=subprocess.PIPE, text=True, check=True).stdout


def parsed_number(text):
    return int(text[2:], 16) if text.startswith("'h") else int(text, 0)


class Xml(unittest.TestCase):
    """A format of XML; `tag` takes the name space off."""

    def check_form(self, element, order, texts, number, attributes):
        tag = element.tag.removeprefix(IPXACT)
        self.assertEqual(element.attrib, attributes.get(tag, {}), tag)
        children = [child.tag.removeprefix(IPXACT) for child in element]
        if tag not in order:
            self.assertEqual(children, [], tag)
            self.assertRegex(element.text or "", rf"\A(?:{texts.get(tag, number)})\Z", tag)
            return
        allowed = [name.rstrip("!") for name in order[tag].split()]
        self.assertLessEqual(set(children), set(allowed), tag)
        self.assertEqual(children, sorted(children, key=allowed.index), tag)
        for name in order[tag].split():
            if name.endswith("!"):
                self.assertIn(name[:-1], children, tag)
        for child in element:
            self.check_form(child, order, texts, number, attributes)

    def access_of(self, element, written):
        return ACCESS[(element.findtext("access"), element.findtext(written), element.findtext("readAction"))]

    def values_of(self, field):
        return {v.findtext("name"): parsed_number(v.findtext("value"))
                for v in field.findall("enumeratedValues/enumeratedValue")}


def without_name_space(text):
    root = ElementTree.fromstring(text)
    for element in root.iter():
        element.tag = element.tag.removeprefix(IPXACT)
    return root


def first(root, name):
    return next(element for element in root.iter() if element.tag.removeprefix(IPXACT) == name)


def plant_another_order(root):
    register = first(root, "register")
    register.insert(0, register[-1])
    del register[-1]


def plant_an_attribute(root):
    first(root, "register").set("colour", "red")


def plant_an_element(root):
    ElementTree.SubElement(first(root, "field"), first(root, "field")[0].tag.replace("name", "colour")).text = "red"


def plant_a_text(root):
    first(root, "access").text = "sometimes"


def plant_a_lack(root):
    register = first(root, "register")
    register.remove(first(register, "addressOffset"))


FAULTS = (plant_another_order, plant_an_attribute, plant_an_element, plant_a_text, plant_a_lack)


def planted(fault, root):
    changed = copy.deepcopy(root)
    fault(changed)
    return changed


class Svd(Xml):
    def setUp(self):
        self.root = ElementTree.fromstring(export("--svd"))

    def test_form(self):
        self.check_svd(self.root)

    def check_svd(self, root):
        self.check_form(root, SVD_ORDER, SVD_TEXT, SVD_NUMBER, SVD_ATTRIBUTES)

    def test_other_forms_are_seen(self):
        for fault in FAULTS:
            with self.subTest(fault.__name__), self.assertRaises(AssertionError):
                self.check_svd(planted(fault, self.root))

    def test_registers_are_the_described_ones(self):
        seen = set()
        for peripheral in self.root.iter("peripheral"):
            block, base = peripheral.findtext("name"), parsed_number(peripheral.findtext("baseAddress"))
            self.assertEqual(base, DESCRIBED.bases[block])
            for item in peripheral.iter("register"):
                name = item.findtext("name").removesuffix("[%s]")
                expected = DESCRIBED.registers[(block, name)]
                seen.add((block, name))
                self.assertEqual(item.find("dim") is not None, expected.is_array, name)
                self.assertEqual(item.findtext("name").endswith("[%s]"), expected.is_array, name)
                if expected.is_array:
                    self.assertEqual((parsed_number(item.findtext("dim")), parsed_number(item.findtext("dimIncrement"))),
                                     (expected.count, expected.stride), name)
                self.assertEqual(base + parsed_number(item.findtext("addressOffset")), expected.address)
                self.assertEqual(parsed_number(item.findtext("size")), expected.width)
                self.assertEqual(parsed_number(item.findtext("resetValue")), expected.reset)
                fields = {f.findtext("name"): self.field_of(f) for f in item.iter("field")}
                self.assertEqual(fields, expected.fields, name)
                if not fields:
                    self.assertEqual(self.access_of(item, "modifiedWriteValues"), expected.access)
        self.assertEqual(seen, set(DESCRIBED.registers))

    def field_of(self, field):
        msb, lsb = (int(bit) for bit in field.findtext("bitRange")[1:-1].split(":"))
        constraint = field.find("writeConstraint") is not None
        access, values = self.access_of(field, "modifiedWriteValues"), self.values_of(field)
        self.assertEqual(constraint, bool(values) and access in ("RW", "WO"))
        return Field(msb, lsb, access, values)

    def test_interrupts_are_the_lines(self):
        lines = {line.findtext("name"): (int(line.findtext("value")), peripheral.findtext("name"))
                 for peripheral in self.root.iter("peripheral") for line in peripheral.iter("interrupt")}
        self.assertEqual(lines, {name: line for name, line in DESCRIBED.lines.items() if line[1] in DESCRIBED.bases})


class Ipxact(Xml):
    def setUp(self):
        self.root = without_name_space(export("--ipxact"))

    def test_form(self):
        self.assertTrue(ElementTree.fromstring(export("--ipxact")).tag.startswith(IPXACT))
        self.check_ipxact(self.root)

    def check_ipxact(self, root):
        self.check_form(root, IPXACT_ORDER, IPXACT_TEXT, IPXACT_NUMBER, {})

    def test_other_forms_are_seen(self):
        for fault in FAULTS:
            with self.subTest(fault.__name__), self.assertRaises(AssertionError):
                self.check_ipxact(planted(fault, self.root))

    def test_elements_are_the_described_ones(self):
        found, expected = {}, {}
        for block in self.root.iter("addressBlock"):
            base = parsed_number(block.findtext("baseAddress"))
            names = [item.findtext("name") for item in block.iter("register")]
            self.assertEqual(len(names), len(set(names)))
            for item in block.iter("register"):
                width = parsed_number(item.findtext("size"))
                for element in range(parsed_number(item.findtext("dim") or "1")):
                    address = base + parsed_number(item.findtext("addressOffset")) + element * width // 8
                    self.assertNotIn(address, found)
                    found[address] = (width, *self.fields_of(item))
        for register in DESCRIBED.registers.values():
            fields = register.fields or {"value": Field(register.width - 1, 0, register.access, {})}
            for element in range(register.count):
                expected[register.address + element * register.stride] = (register.width, fields, register.reset)
        self.assertEqual(found, expected)

    def fields_of(self, register):
        """And the reset value that they have together."""
        fields, reset = {}, 0
        for item in register.iter("field"):
            lsb, width = (parsed_number(item.findtext(key)) for key in ("bitOffset", "bitWidth"))
            fields[item.findtext("name")] = Field(lsb + width - 1, lsb, self.access_of(item, "modifiedWriteValue"),
                                                  self.values_of(item))
            reset |= parsed_number(item.findtext("resets/reset/value")) << lsb
        return fields, reset


class Json(unittest.TestCase):
    def test_registers_are_the_described_ones(self):
        content = json.loads(export("--json"))
        registers = {}
        for block in content["blocks"]:
            for item in block["registers"]:
                registers[(block["name"], item["name"])] = item
        self.assertEqual(set(registers), set(DESCRIBED.registers))
        for name, register in DESCRIBED.registers.items():
            item = registers[name]
            self.assertEqual((item["address"], item["width"], item["access"], item["reset"], item.get("count", 1),
                              item.get("stride", 0)), (register.address, register.width, register.access,
                                                       register.reset, register.count, register.stride), name)
            fields = {f["name"]: Field(*f["bits"], f["access"], self.values_of(f, content)) for f in item.get("fields", [])}
            self.assertEqual(fields, register.fields, name)

    def values_of(self, field, content):
        if "enumeration" in field:
            return {v["name"]: v["value"] for v in content["enumerations"][field["enumeration"]]["values"]}
        return field.get("values", {})


class Header(unittest.TestCase):
    DEFINITION = re.compile(r"^#define (T3_\w+) (?!\w+_H$)\S", re.MULTILINE)
    STRICT = ("-pedantic", "-Wall", "-Wextra", "-Werror")

    def setUp(self):
        self.text = export("--header")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.exported = self.file("all.h", self.text)

    def file(self, name, text):
        path = pathlib.Path(self.folder.name, name)
        path.write_text(text)
        return path

    def names(self, text):
        enumerators = re.findall(r"^  (T3_\w+) = ", text, re.MULTILINE)
        return set(self.DEFINITION.findall(text)) - {"T3_OF_32_BITS"} | set(enumerators)

    def values(self, includes, names, compiler, standard):
        """What the compiler takes the names for."""
        lines = [*(f'#include "{file}"' for file in includes), "#include <stdio.h>", "int main(void) {"]
        lines += [f'  printf("{name} %llx\\n", (unsigned long long){name});' for name in sorted(names)]
        program = self.file("values.c" if standard == "c11" else "values.cpp", "\n".join([*lines, "  return 0;", "}", ""]))
        binary = pathlib.Path(self.folder.name, "values")
        subprocess.run([compiler, f"-std={standard}", *self.STRICT, "-I", HEADERS, program, "-o", binary], check=True)
        text = subprocess.run([binary], stdout=subprocess.PIPE, text=True, check=True).stdout
        return {name: int(value, 16) for name, value in (line.split() for line in text.splitlines())}

    def test_c_and_cpp_see_the_firmwares_constants(self):
        blocks = [f"t3/registers/{block}.h" for block in DESCRIBED.bases]
        shared = ["t3/gpu.h", *(f"t3/{name}.h" for name in DESCRIBED.enumerations)]
        firmware = "".join(pathlib.Path(HEADERS, file).read_text() for file in (*shared, *blocks))
        names = self.names(self.text)
        bases = {f"T3_{block.upper()}_BASE": base for block, base in DESCRIBED.bases.items()}
        self.assertEqual(names, self.names(firmware) | set(bases))
        of_firmware = self.values([*shared, *blocks], names - set(bases), CC, "c11")
        self.assertGreater(len(of_firmware), 500)
        for compiler, standard in ((CC, "c11"), (CXX, "c++17")):
            self.assertEqual(self.values([self.exported], names, compiler, standard), {**of_firmware, **bases})

    def test_offsets_are_the_described_ones(self):
        offsets = dict(re.findall(r"^#define (T3_\w+)_OFFSET UINT32_C\((\w+)\)", self.text, re.MULTILINE))
        self.assertEqual({name: int(value, 0) for name, value in offsets.items()},
                         {f"T3_{block}_{name}".upper(): register.address - DESCRIBED.bases[block]
                          for (block, name), register in DESCRIBED.registers.items()})


class Schemas(unittest.TestCase):
    def setUp(self):
        folder = os.environ.get("T3VP_SCHEMAS")
        if folder is None:
            self.skipTest("no T3VP_SCHEMAS")
        self.folder = pathlib.Path(folder)

    def test_svd(self):
        self.check("--svd", self.folder / "CMSIS-SVD.xsd")

    def test_ipxact(self):
        self.check("--ipxact", self.folder / "ieee-1685-2014" / "index.xsd")

    def check(self, option, schema):
        text = export(option)
        valid = self.validate(text, schema)
        self.assertEqual(valid.returncode, 0, valid.stderr)
        for fault in FAULTS:
            with self.subTest(fault.__name__):
                other = ElementTree.tostring(planted(fault, ElementTree.fromstring(text)), encoding="unicode")
                self.assertEqual(self.validate(other, schema).returncode, 3, "not refused as invalid")

    def validate(self, text, schema):
        return subprocess.run(["xmllint", "--noout", "--nonet", "--schema", schema, "-"], input=text, text=True,
                              capture_output=True, check=False)


if __name__ == "__main__":
    unittest.main()
