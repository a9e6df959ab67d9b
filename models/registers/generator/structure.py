"""Structures in memory that software and hardware share: packets (<name>.structure.json) and the arguments of kernels
(<name>.arguments.json). Their fields follow each other without gaps, little endian."""

import re
from dataclasses import dataclass

from .c_header import number
from .cpp_header import KEYWORDS
from .description import DescriptionError, Reader, require_distinct

BYTES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "f32": 4}
C_TYPES = {"u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "f32": "float"}
BYTES_MAX = 4096


@dataclass
class Member:
    name: str
    type: str
    offset: int
    text: str
    values: list  # of (name, value)


@dataclass
class Structure:
    name: str
    text: str
    members: list
    entry_bytes: int  # of an array of them in memory; 0: there is none
    is_arguments: bool
    file: str  # without its folder

    @property
    def bytes(self):
        return self.members[-1].offset + BYTES[self.members[-1].type]


def read_member(reader, item, offset):
    reader.place = f"field {item.get('name', '?')}" if isinstance(item, dict) else "fields"
    reader.keys(item, ("name", "type", "text"), ("values",))
    name = reader.name(item["name"], "field")
    if name in KEYWORDS:
        reader.fail("is a word of C or C++")
    if not isinstance(item["type"], str) or item["type"] not in BYTES:
        reader.fail(f"type {item['type']!r} must be one of {', '.join(BYTES)}")
    values = item.get("values", {})
    reader.keys(values, (), values)
    values = [(reader.name(value_name, "value"), reader.number(value, value_name))
              for value_name, value in values.items()]
    require_distinct(reader, values)
    if values and item["type"] == "f32":
        reader.fail("is f32 and cannot have values")
    for value_name, value in values:
        if value >> 8 * BYTES[item["type"]]:
            reader.fail(f"value {value_name} = {value} does not fit in {item['type']}")
    return Member(name, item["type"], offset, reader.text(item), values)


def read_structure(file):
    reader = Reader(file)
    item = reader.load()
    is_arguments = str(file).endswith(".arguments.json")
    kind = "arguments" if is_arguments else "structure"
    reader.keys(item, (kind, "text", "fields"), () if is_arguments else ("entry_bytes",))
    name = reader.name(item[kind], kind)
    if not re.search(rf"(^|/){name}\.{kind}\.json\Z", str(file)):
        reader.fail(f"describes {kind} {name} and so must be named {name}.{kind}.json")
    text = reader.text(item)
    entry_bytes = reader.number(item.get("entry_bytes", 0), "entry_bytes")
    if not isinstance(item["fields"], list) or not item["fields"]:
        reader.fail("\"fields\" must be an array of one field or more")
    structure = Structure(f"{name}_arguments" if is_arguments else name, text, [], entry_bytes, is_arguments,
                          str(file).rsplit("/", 1)[-1])
    for entry in item["fields"]:
        member = read_member(reader, entry, structure.bytes if structure.members else 0)
        if any(member.name == other.name for other in structure.members):
            reader.fail("two fields have this name")
        structure.members.append(member)
    reader.place = ""
    if structure.bytes > BYTES_MAX:
        reader.fail(f"has {structure.bytes} bytes, expected at most {BYTES_MAX}")
    if entry_bytes and entry_bytes < structure.bytes:
        reader.fail(f"entry_bytes {entry_bytes} must be its {structure.bytes} bytes or more")
    return structure


def read_structures(files):
    structures = []
    for file in files:
        structure = read_structure(file)
        if any(structure.name == other.name for other in structures):
            raise DescriptionError(f"{file}: {structure.name} is already described")
        structures.append(structure)
    return structures


def header_name(structure, project):
    """Below the directory of generated headers."""
    if structure.is_arguments:
        return f"{project}/arguments/{structure.name.removesuffix('_arguments')}.h"
    return f"{project}/{structure.name}.h"


def reading(member):
    at = f"bytes + {member.offset}"
    if member.type == "f32":
        return f"t3_float_at({at})"
    mask = "" if member.type == "u64" else f" & UINT{8 * BYTES[member.type]}_MAX"
    return f"t3_number_at({at}, {BYTES[member.type]}){mask}"


def writing(member):
    at = f"bytes + {member.offset}"
    if member.type == "f32":
        return f"t3_put_float({at}, value->{member.name})"
    return f"t3_put_number({at}, {BYTES[member.type]}, value->{member.name})"


def header(structure, project):
    """The structure, its size in memory and functions from and to its bytes, for C and C++."""
    name, macro = f"{project}_{structure.name}", f"{project}_{structure.name}".upper()
    kind = f"struct {name}"
    lines = [f"/* {structure.text} Generated from {structure.file}. */", f"#ifndef {macro}_H", f"#define {macro}_H", "",
             '#include "t3/little_endian.h"', "", f"{kind} {{"]
    lines += [f"  {C_TYPES[m.type]} {m.name}; /* {m.text} */" for m in structure.members]
    lines += ["};", "", f"#define {macro}_BYTES {structure.bytes}u /* in memory, little endian */"]
    if structure.entry_bytes:
        lines.append(f"#define {macro}_ENTRY_BYTES {structure.entry_bytes}u")
    for m in structure.members:
        lines += [f"#define {macro}_{m.name.upper()}_{value_name.upper()} {number(value, 8 * BYTES[m.type])}"
                  for value_name, value in m.values]
    lines += ["", f"static inline void {name}_to(const {kind}* value, unsigned char* bytes) {{"]
    lines += [f"  {writing(m)};" for m in structure.members]
    lines += ["}", "", f"static inline {kind} {name}_from(const unsigned char* bytes) {{", f"  {kind} value;"]
    lines += [f"  value.{m.name} = {reading(m)};" for m in structure.members]
    lines += ["  return value;", "}", ""]
    if structure.is_arguments:
        lines += [f"static inline void {name}_read(void* arguments, const unsigned char* bytes) {{",
                  f"  const {kind} value = {name}_from(bytes);", "  memcpy(arguments, &value, sizeof value);", "}", "",
                  "/* Of a struct t3_kernel: arguments. */",
                  f"#define {macro} {{{macro}_BYTES, sizeof({kind}), {name}_read}}", ""]
    return "\n".join(lines + ["#endif", ""])


def table(structure):
    """For people."""
    lines = ["| Offset | Field | Type | |", "| --- | --- | --- | --- |"]
    for m in structure.members:
        values = f" {', '.join(f'`{n}` = {v if v < 4096 else hex(v)}' for n, v in m.values)}." if m.values else ""
        lines.append(f"| `{m.offset:#04x}` | {m.name} | {m.type} | {m.text}{values} |")
    return lines
