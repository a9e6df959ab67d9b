"""Reads and checks the *.registers.json files. Every error is one line: file, register, what is wrong."""

import json
import re
from dataclasses import dataclass, field

ACCESS_TYPES = ("RW", "RO", "WO", "W1C", "W1S", "RC")
# What a field may be, given the access type of its register.
FIELD_ACCESS = {
    "RW": ACCESS_TYPES,
    "RO": ("RO", "RC"),
    "WO": ("WO",),
    "W1C": ("W1C", "RO"),
    "W1S": ("W1S", "RO"),
    "RC": ("RC", "RO"),
}
BLOCK_BYTES = 0x10000
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*\Z")


class DescriptionError(Exception):
    """A description that cannot be used."""


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


@dataclass
class Enumeration:
    name: str
    kind: str  # name of the C++ class
    bits: int  # of its underlying type
    prefix: str  # of the C constants, behind that of the project; may be empty
    text: str
    values: list  # of (name, value, text)


@dataclass
class Field:
    name: str
    msb: int
    lsb: int
    access: str
    text: str
    values: list = field(default_factory=list)  # of (name, value)
    enumeration: str = ""  # name of the shared enumeration the values come from
    kind: str = ""  # name of its C++ class

    @property
    def width(self):
        return self.msb - self.lsb + 1

    @property
    def mask(self):
        return ((1 << self.width) - 1) << self.lsb


@dataclass
class Register:
    name: str
    offset: int
    width: int
    access: str
    text: str
    reset: int
    count: int
    stride: int
    is_array: bool
    sync: bool
    lock: bool
    own_address: bool  # an address of the GPU's own memory, with the GPU's number
    fields: list

    @property
    def bytes(self):
        return self.width // 8

    @property
    def end(self):
        return self.offset + (self.count - 1) * self.stride + self.bytes

    @property
    def known(self):
        if not self.fields:
            return (1 << self.width) - 1
        return sum(f.mask for f in self.fields)


@dataclass
class Block:
    name: str
    text: str
    registers: list
    file: str


class Reader:
    """Turns one JSON file into objects; remembers where it is for its error messages."""

    def __init__(self, file):
        self.file = file
        self.place = ""

    def fail(self, message):
        raise DescriptionError(f"{self.file}: {self.place + ': ' if self.place else ''}{message}")

    def load(self):
        def without_duplicates(pairs):
            keys = [key for key, _ in pairs]
            for key in keys:
                if keys.count(key) > 1:
                    self.fail(f"\"{key}\" is given twice in one object")
            return dict(pairs)

        try:
            with open(self.file, encoding="utf-8") as stream:
                return json.load(stream, object_pairs_hook=without_duplicates)
        except OSError as error:
            self.fail(error.strerror)
        except ValueError as error:
            self.fail(f"not JSON: {error}")

    def keys(self, item, required, optional=()):
        if not isinstance(item, dict):
            self.fail(f"expected an object, found {json.dumps(item)}")
        for key in required:
            if key not in item:
                self.fail(f"\"{key}\" is missing")
        for key in item:
            if key not in required and key not in optional:
                self.fail(f"unknown \"{key}\", expected one of {', '.join((*required, *optional))}")

    def name(self, value, what):
        if not isinstance(value, str) or not NAME.match(value):
            self.fail(f"{what} {json.dumps(value)} must be snake_case")
        return value

    def number(self, value, what):
        try:
            number = int(value, 0) if isinstance(value, str) else value
        except ValueError:
            number = None
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            self.fail(f"{what} {json.dumps(value)} must be a number, or one in a string such as \"0x10\"")
        return number

    def text(self, item):
        if not isinstance(item["text"], str) or not item["text"].strip():
            self.fail("\"text\" must say what it is")
        if "\n" in item["text"] or "*/" in item["text"] or "|" in item["text"]:
            self.fail("\"text\" goes into comments and tables: no line break, no */, no |")
        return item["text"]

    def access(self, value):
        if value not in ACCESS_TYPES:
            self.fail(f"access {json.dumps(value)} must be one of {', '.join(ACCESS_TYPES)}")
        return value

    def flag(self, value, what):
        if not isinstance(value, bool):
            self.fail(f"\"{what}\" must be true or false, found {json.dumps(value)}")
        return value


def read_enumeration(file):
    reader = Reader(file)
    item = reader.load()
    reader.keys(item, ("enumeration", "text", "values"), ("class", "bits", "prefix"))
    name = reader.name(item["enumeration"], "enumeration")
    bits = item.get("bits", 32)
    if bits not in (8, 16, 32, 64):
        reader.fail(f"bits {json.dumps(bits)} must be 8, 16, 32 or 64")
    prefix = reader.name(item["prefix"], "prefix") if "prefix" in item else ""
    values = []
    for entry in item["values"]:
        reader.keys(entry, ("name", "value", "text"))
        values.append((reader.name(entry["name"], "value"), reader.number(entry["value"], "value"), reader.text(entry)))
    require_distinct(reader, values)
    for value_name, value, _ in values:
        if value >> bits:
            reader.fail(f"value {value_name} = {value} does not fit in {bits} bits")
    return Enumeration(name, item.get("class", camel(name)), bits, prefix, reader.text(item), values)


def require_distinct(reader, values):
    for position, (name, value, *_) in enumerate(values):
        for other, number, *_ in values[:position]:
            if other == name:
                reader.fail(f"two values are named {name}")
            if number == value:
                reader.fail(f"values {other} and {name} are both {value}")


def read_block(file, enumerations):
    reader = Reader(file)
    item = reader.load()
    reader.keys(item, ("block", "text", "registers"))
    block = Block(reader.name(item["block"], "block"), reader.text(item), [], file)
    if not re.search(rf"(^|/){block.name}\.registers\.json\Z", str(file)):
        reader.fail(f"describes block {block.name} and so must be named {block.name}.registers.json")
    if not isinstance(item["registers"], list) or not item["registers"]:
        reader.fail("\"registers\" must be an array of one register or more")
    for entry in item["registers"]:
        block.registers.append(read_register(reader, entry, enumerations))
    check_placement(reader, block)
    block.registers.sort(key=lambda r: r.offset)
    return block


def read_register(reader, item, enumerations):
    reader.place = f"register {item.get('name', '?')}" if isinstance(item, dict) else "registers"
    reader.keys(item, ("name", "offset", "width", "access", "text"),
                ("reset", "count", "stride", "sync", "lock", "own_address", "fields"))
    register = Register(
        name=reader.name(item["name"], "register"), offset=reader.number(item["offset"], "offset"),
        width=item["width"], access=reader.access(item["access"]), text=reader.text(item),
        reset=reader.number(item.get("reset", 0), "reset"), count=reader.number(item.get("count", 1), "count"),
        stride=reader.number(item.get("stride", 0), "stride"), is_array="count" in item,
        sync=reader.flag(item.get("sync", False), "sync"), lock="lock" in item,
        own_address=reader.flag(item.get("own_address", False), "own_address"), fields=[])
    check_register(reader, register, item)
    for entry in item.get("fields", []):
        register.fields.append(read_field(reader, entry, register, enumerations))
        reader.place = f"register {register.name}"
    check_fields(reader, register)
    return register


def check_register(reader, register, item):
    if register.width not in (32, 64):
        reader.fail(f"width {json.dumps(register.width)} must be 32 or 64")
    if register.offset % register.bytes:
        reader.fail(f"offset {register.offset:#x} must be a multiple of its {register.bytes} bytes")
    if register.lock and item["lock"] != "busy":
        reader.fail(f"lock {json.dumps(item['lock'])} must be \"busy\"")
    if register.lock and register.access in ("RO", "RC"):
        reader.fail(f"is {register.access}, so there is nothing to lock")
    if register.own_address and (register.width != 64 or register.access != "RW" or item.get("fields")):
        reader.fail("an own_address is written to 64 bits without fields that are RW")
    if ("count" in item) != ("stride" in item):
        reader.fail("\"count\" and \"stride\" go together")
    if register.count < 1:
        reader.fail("count must be 1 or more")
    if register.is_array and (register.stride < register.bytes or register.stride % register.bytes):
        reader.fail(f"stride {register.stride} must be a multiple of its {register.bytes} bytes")
    if register.end > BLOCK_BYTES:
        reader.fail(f"ends at {register.end:#x}, beyond the block's {BLOCK_BYTES:#x} bytes")


def read_field(reader, item, register, enumerations):
    if isinstance(item, dict):
        reader.place = f"register {register.name}, field {item.get('name', '?')}"
    reader.keys(item, ("name", "text"), ("bits", "bit_for_each", "access", "values", "enumeration"))
    bits = bits_of(reader, item, enumerations)
    if not isinstance(bits, list) or len(bits) != 2 or any(not isinstance(b, int) for b in bits):
        reader.fail(f"bits {json.dumps(bits)} must be [most significant, least significant]")
    new = Field(reader.name(item["name"], "field"), bits[0], bits[1],
                reader.access(item.get("access", register.access)), reader.text(item))
    if not 0 <= new.lsb <= new.msb:
        reader.fail(f"bits {json.dumps(bits)} must be [most significant, least significant]")
    if new.msb >= register.width:
        reader.fail(f"bit {new.msb} lies outside the register's {register.width} bits")
    if new.access not in FIELD_ACCESS[register.access]:
        reader.fail(f"is {new.access} in a register that is {register.access}")
    read_values(reader, item, new, enumerations)
    return new


def known_enumeration(reader, name, enumerations):
    if name not in enumerations:
        reader.fail(f"enumeration {json.dumps(name)} is not known")
    return enumerations[name]


def bits_of(reader, item, enumerations):
    """As given, or a bit for each value of an enumeration."""
    if ("bits" in item) == ("bit_for_each" in item):
        reader.fail("has either \"bits\" or \"bit_for_each\"")
    if "bits" in item:
        return item["bits"]
    return [max(value for _, value, _ in known_enumeration(reader, item["bit_for_each"], enumerations).values), 0]


def read_values(reader, item, new, enumerations):
    if "values" in item and "enumeration" in item:
        reader.fail("has both \"values\" and \"enumeration\"")
    if "values" in item:
        reader.keys(item["values"], (), item["values"])
        new.values = [(reader.name(name, "value"), reader.number(value, name))
                      for name, value in item["values"].items()]
    if "enumeration" in item:
        enumeration = known_enumeration(reader, item["enumeration"], enumerations)
        new.enumeration = enumeration.name
        new.kind = enumeration.kind
        new.values = [(name, value) for name, value, _ in enumeration.values]
    require_distinct(reader, new.values)
    for name, value in new.values:
        if value >> new.width:
            reader.fail(f"value {name} = {value} does not fit in {new.width} bits")
    if new.values and new.access in ("W1C", "W1S"):
        reader.fail(f"is {new.access} and cannot have an enumeration")


def check_fields(reader, register):
    for position, one in enumerate(register.fields):
        for other in register.fields[:position]:
            if one.name == other.name:
                reader.fail(f"two fields are named {one.name}")
            if one.mask & other.mask:
                reader.fail(f"fields {other.name} and {one.name} overlap")
    if register.reset >> register.width:
        reader.fail(f"reset {register.reset:#x} does not fit in {register.width} bits")
    if register.reset & ~register.known:
        reader.fail(f"reset {register.reset:#x} sets bits {register.reset & ~register.known:#x} that no field covers")
    for one in register.fields:
        value = (register.reset & one.mask) >> one.lsb
        if one.values and value not in [number for _, number in one.values]:
            reader.fail(f"reset gives field {one.name} the value {value}, which its enumeration lacks")


def words_of(register):
    for element in range(register.count):
        start = register.offset + element * register.stride
        yield from range(start, start + register.bytes, 4)


def check_placement(reader, block):
    taken = {}
    names = set()
    for register in block.registers:
        reader.place = f"register {register.name}"
        if register.name in names:
            reader.fail("two registers have this name")
        names.add(register.name)
        for word in words_of(register):
            if word in taken:
                reader.fail(f"overlaps register {taken[word]} at offset {word:#x}")
            taken[word] = register.name
    reader.place = ""


def read_enumerations(files):
    """By name."""
    enumerations = {}
    for file in files:
        enumeration = read_enumeration(file)
        if enumeration.name in enumerations:
            raise DescriptionError(f"{file}: enumeration {enumeration.name} is already described")
        enumerations[enumeration.name] = enumeration
    return enumerations


def read_blocks(block_files, enumerations):
    blocks = []
    for file in block_files:
        block = read_block(file, enumerations)
        for other in blocks:
            if other.name == block.name:
                raise DescriptionError(f"{file}: block {block.name} is already described by {other.file}")
        blocks.append(block)
    return blocks
