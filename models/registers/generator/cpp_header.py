"""C++ headers of the models: one class per block, and the shared enumerations."""

import json

from .description import DescriptionError, camel

KEYWORDS = {"bool", "break", "case", "catch", "char", "class", "const", "continue", "default", "delete", "do", "double",
            "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline",
            "int", "long", "mutable", "namespace", "new", "operator", "private", "protected", "public", "register",
            "return", "short", "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw", "true",
            "try", "typedef", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "while"}
TAKEN_BY_BLOCK = KEYWORDS | {"socket", "errors", "reset_line", "reset", "on_reset", "lock_when", "report", "refuse",
                             "description", "state", "name", "kind", "wait"}
TAKEN_BY_REGISTER = KEYWORDS | {"value", "set", "on_write", "on_read", "on_refresh"}
ACCESS = {"RW": "rw", "RO": "ro", "WO": "wo", "W1C": "w1c", "W1S": "w1s", "RC": "rc"}


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def literal(value):
    return f"{value:#x}u" if value < 1 << 32 else f"{value:#x}ull"


def member_of_block(name):
    return name + "_register" if name in TAKEN_BY_BLOCK else name


def member_of_register(name):
    return name + "_field" if name in TAKEN_BY_REGISTER else name


def enumerator(name):
    return name + "_value" if name in KEYWORDS else name


def enumeration_lines(enumeration, counted=False):
    """enum class, name_of() and text_of(); `counted` adds the number of values."""
    kind = enumeration.kind
    lines = [f"/// {enumeration.text}", f"enum class {kind} : std::uint{enumeration.bits}_t {{"]
    lines += [f"  {enumerator(name)} = {value},  ///< {text}" for name, value, text in enumeration.values]
    if counted:
        lines.append(f"  count = {len(enumeration.values)}")
    lines += ["};", ""]
    for function, column in (("name_of", 0), ("text_of", 2)):
        lines += [f"constexpr const char* {function}({kind} value) {{", "  switch (value) {"]
        lines += [f"    case {kind}::{enumerator(entry[0])}: return {quoted(entry[column])};"
                  for entry in enumeration.values]
        if counted:
            lines.append(f"    case {kind}::count: break;")
        lines += ["  }", f"  return {quoted(f'unknown {enumeration.name}')};", "}", ""]
    return lines


def enumeration_header(enumeration):
    """The enumeration and the list of its values."""
    lines = [f"// Generated from {enumeration.name}.enumeration.json.", "#pragma once", "", "#include <cstdint>", "",
             "namespace t3vp {", "", *enumeration_lines(enumeration)]
    values = ", ".join(f"{enumeration.kind}::{enumerator(name)}" for name, _, _ in enumeration.values)
    lines.append(f"inline constexpr {enumeration.kind} {enumeration.name}_values[] = {{{values}}};")
    return "\n".join(lines + ["", "}  // namespace t3vp", ""])


def device_header(device, blocks):
    """Constants of the address map, blocks and lines."""
    constants = [*device.constants, ("registers_base", device.registers_base, "the register blocks begin there"),
                 ("block_bytes", device.block_bytes, "from one block to the next")]
    lines = [f"// {device.text} Generated from {device.name}.json.", "#pragma once", "", "#include <cstdint>", "",
             f"namespace t3vp::{device.namespace} {{", ""]
    lines += [f"inline constexpr std::uint64_t {name} = {literal(value)};  ///< {text}"
              for name, value, text in constants]
    for enumeration in device.enumerations(blocks):
        lines += ["", *enumeration_lines(enumeration, counted=True)]
    lines += ["/// Which port of the device drives a line.", "struct LineSource {", "  Line line;",
              "  const char* port;  ///< path below the device", "};",
              "inline constexpr LineSource line_sources[] = {"]
    lines += [f"    {{Line::{name}, {quoted(device.sources[name][1])}}}," for name, _, _ in device.lines
              if device.sources[name][1] is not None]
    lines += ["};", ""]
    return "\n".join(lines + [f"}}  // namespace t3vp::{device.namespace}", ""])


def field_type(field):
    if field.enumeration:
        return "::t3vp::" + field.kind
    if field.values:
        return camel(field.name)
    return "bool" if field.width == 1 else "std::uint32_t" if field.width <= 32 else "std::uint64_t"


def register_struct(block, register):
    kind = camel(register.name)
    place = f"{block.file}: register {register.name}"
    if kind == camel(block.name):
        raise DescriptionError(f"{place}: has fields and so cannot have the name of its block")
    lines = [f"  struct {kind} : RegisterValue {{", "    using RegisterValue::RegisterValue;"]
    for field in register.fields:
        if field.values and not field.enumeration:
            if camel(field.name) == kind:
                raise DescriptionError(
                    f"{place}, field {field.name}: has values and so cannot have its register's name")
            values = ", ".join(f"{enumerator(name)} = {literal(value)}" for name, value in field.values)
            size = "std::uint64_t" if field.width > 32 else "std::uint32_t"
            lines.append(f"    enum class {camel(field.name)} : {size} {{ {values} }};")
    for field in register.fields:
        lines.append(f"    Field<{field_type(field)}, {field.lsb}, {field.width}> {member_of_register(field.name)}"
                     f"{{*this}};  ///< {field.text}")
    return lines + ["  };"]


def offset_constants(block):
    """Of every register its offset in the block, of an array also the number of its elements and their distance."""
    names = {register.name for register in block.registers}
    lines = []
    for r in block.registers:
        constants = [("offset", f"{r.offset:#x}")]
        if r.is_array:
            constants += [("count", r.count), ("stride", r.stride)]
        for kind, _ in constants:
            if f"{r.name}_{kind}" in names:
                raise DescriptionError(f"{block.file}: register {r.name}_{kind}: it is also the constant of {r.name}")
        lines.append("  static constexpr std::uint64_t "
                     + ", ".join(f"{r.name}_{kind} = {value}" for kind, value in constants) + ";")
    return lines


def block_class(block):
    kind = camel(block.name)
    lines = [f"/// {block.text}", f"class {kind} : public RegisterBlock {{", " public:"]
    for register in block.registers:
        if register.fields:
            lines += register_struct(block, register) + [""]
    lines += [f"  explicit {kind}(const sc_core::sc_module_name& module_name)",
              f"      : RegisterBlock(module_name, descriptions::{block.name}) {{}}", ""]
    lines += offset_constants(block)
    for number, register in enumerate(block.registers):
        template = "RegisterArray" if register.is_array else "Register"
        value = camel(register.name) if register.fields else ""
        lines.append(f"  {template}<{value}> {member_of_block(register.name)}{{state({number})}};"
                     f"  ///< {register.text}")
    return lines + ["};"]


def field_table(block, register):
    lines = []
    for field in register.fields:
        if field.values:
            values = ", ".join(f"{{{quoted(name)}, {literal(value)}}}" for name, value in field.values)
            lines.append(f"inline constexpr EnumerationValue {block.name}_{register.name}_{field.name}[] = "
                         f"{{{values}}};")
    lines.append(f"inline constexpr FieldDescription {block.name}_{register.name}[] = {{")
    for field in register.fields:
        values = f"{block.name}_{register.name}_{field.name}" if field.values else "{}"
        lines.append(f"    {{{quoted(field.name)}, {field.lsb}, {field.width}, Access::{ACCESS[field.access]}, "
                     f"{values}, {quoted(field.text)}}},")
    return lines + ["};"]


def description_table(block):
    lines = ["namespace descriptions {"]
    for register in block.registers:
        if register.fields:
            lines += field_table(block, register)
    lines.append(f"inline constexpr RegisterDescription {block.name}_registers[] = {{")
    for r in block.registers:
        fields = f"{block.name}_{r.name}" if r.fields else "{}"
        lines.append(f"    {{{quoted(r.name)}, {r.offset:#x}, {r.bytes}, Access::{ACCESS[r.access]}, "
                     f"{literal(r.reset)}, {r.count}, {r.stride}, {str(r.sync).lower()}, {str(r.lock).lower()}, "
                     f"{fields}, {quoted(r.text)}}},")
    lines += ["};",
              f"inline constexpr BlockDescription {block.name} = {{{quoted(block.name)}, {block.name}_registers, "
              f"{quoted(block.text)}}};",
              "}  // namespace descriptions"]
    return lines


def block_header(block):
    enumerations = sorted({field.enumeration for register in block.registers for field in register.fields} - {""})
    lines = [f"// Generated from {block.name}.registers.json.", "#pragma once", "",
             *(f'#include "registers/{enumeration}.h"' for enumeration in enumerations),
             '#include "registers/register_block.h"', "", "namespace t3vp::registers {", ""]
    return "\n".join(lines + description_table(block) + [""] + block_class(block)
                     + ["", "}  // namespace t3vp::registers", ""])


def catalogue_header(blocks, device):
    """All blocks of a device in the order of their windows."""
    block_kind = f"{device.namespace}::Block"
    lines = ["// Every register block in the order of the windows. Generated.", "#pragma once", ""]
    lines += ["#include <memory>", "", f'#include "registers/{device.name}.h"']
    lines += [f'#include "registers/{block.name}.h"' for block in sorted(blocks, key=lambda b: b.name)]
    lines += ["", "namespace t3vp::registers {", "", "struct CatalogueEntry {", f"  {block_kind} block;",
              "  const BlockDescription& description;",
              "  std::unique_ptr<RegisterBlock> (*make)(const char* module_name);", "};", "",
              "template <typename Block>", "std::unique_ptr<RegisterBlock> make_block(const char* module_name) {",
              "  return std::make_unique<Block>(module_name);", "}", "",
              "inline constexpr CatalogueEntry catalogue[] = {"]
    lines += [f"    {{{block_kind}::{b.name}, descriptions::{b.name}, &make_block<{camel(b.name)}>}},"
              for b in blocks]
    return "\n".join(lines + ["};", "", "}  // namespace t3vp::registers", ""])
