"""Structures of parameters: C++ for models, C for kernels."""

import json

from .parameter import NANOSECONDS, suffix_of

CPP_TYPES = {"u32": "std::uint32_t", "u64": "std::uint64_t", "double": "double", "bool": "bool", "time": "Picoseconds",
             "period": "Picoseconds", "text": "std::string"}
C_TYPES = {"u32": "uint32_t", "u64": "uint64_t", "double": "double", "bool": "bool", "time": "double"}


def cpp_type(p):
    if p.type == "enumeration":
        return p.enumeration
    if p.type == "bytes":
        return f"std::uint{p.bits}_t"
    if p.type == "list":
        return f"std::array<{CPP_TYPES[p.of]}, {p.count[0]}>" if p.is_fixed_list else f"std::vector<{CPP_TYPES[p.of]}>"
    return CPP_TYPES[p.type]


def enumerator(value):
    return value.replace("-", "_")


def whole(value):
    return f"{value}" if value < 1 << 31 else f"{value}ull"


def initial(p):
    """Of a C++ member, in its own unit."""
    if p.type == "list":
        return "{" + ", ".join(json.dumps(element) for element in p.default or []) + "}"
    value = p.default
    if p.type == "enumeration":
        return f" = {p.enumeration}::{enumerator(value if value is not None else p.values[0])}"
    if value is None:
        return "{}"
    if p.type == "time":
        return f" = {whole(round(value * NANOSECONDS[suffix_of(p.name)] * 1000))}"
    if p.type == "period":
        return f" = {whole(round(1000 / value))}"
    if p.type == "bytes":
        return f" = {whole(round(value * p.scale))}"
    if p.type in ("u32", "u64"):
        return f" = {whole(value)}"
    return f" = {json.dumps(value, ensure_ascii=False)}"


def wrapped(text, begin):
    """A comment on lines of its own."""
    words, lines, line = text.split(), [], begin
    for word in words:
        if len(line) + 1 + len(word) > 118 and line != begin:
            lines.append(line)
            line = begin
        line += " " + word
    return lines + [line]


def cpp_header(description, namespace):
    """What declares the structure; nothing where there is none."""
    lines = [f"// Generated from {description.source.name}; do not edit.", "#pragma once", ""]
    if description.header:
        return "\n".join(lines + [f'#include "{description.header}"', ""])
    return "\n".join(lines + structure_lines(description, namespace)) if description.struct else "\n".join(lines)


def structure_lines(description, namespace):
    """The structure with its defaults, and the enumerations of its members."""
    scope, _, name = description.struct.rpartition("::")
    scope = "::".join(part for part in (namespace, scope) if part)
    fields = [p for p in description.fields if p.member]
    types = [cpp_type(p) for p in fields]
    includes = [f"#include <{header}>" for header, word in (("array", "std::array"), ("cstdint", ""),
                                                           ("string", "std::string"), ("vector", "std::vector"))
                if any(word in kind for kind in types)]
    lines = [*includes, ""]
    if "Picoseconds" in types:
        lines += ['#include "protocol/picoseconds.h"', ""]
    lines += [f"namespace {scope} {{", ""]
    for p in fields:
        if p.type == "enumeration":
            lines += wrapped(p.text, "///")
            values = ", ".join(enumerator(value) for value in p.values)
            lines += [f"enum class {p.enumeration} : std::uint8_t {{ {values} }};", ""]
    lines += [*wrapped(description.text, "///"), f"struct {name} {{"]
    for p, kind in zip(fields, types):
        lines += [*wrapped(p.text, "  ///"), f"  {kind} {p.member}{initial(p)};"]
    return lines + ["};", "", f"}}  // namespace {scope}", ""]


def c_value(p):
    if p.default is None:
        return "0"
    if p.type == "bool":
        return "true" if p.default else "false"
    if p.type == "bytes":
        return str(round(p.default * p.scale))
    return json.dumps(p.default)


def c_member(p):
    """Times stay in the unit of the key, and keep it in their name."""
    return p.name if p.type == "time" else p.member


def c_struct(description):
    lines = [f"/* {description.text} */", f"struct {description.struct} {{"]
    for p in description.fields:
        kind = f"uint{p.bits}_t" if p.type == "bytes" else C_TYPES[p.type]
        lines.append(f"  {kind} {c_member(p)}; /* {p.text} */")
    return lines + ["};"]


def kernels_header(descriptions, project):
    """All kernels' parameters in one structure, whose members are named as the sections are."""
    guard = f"{project}_kernel_parameters_h".upper()
    lines = ["/* Generated from <name>.parameters.json in the folders of the kernels; do not edit. */",
             f"#ifndef {guard}", f"#define {guard}", "", "#include <stdbool.h>", "#include <stdint.h>", ""]
    for description in descriptions:
        lines += [*c_struct(description), ""]
    lines += ["/* By the kernel that describes them. */", f"struct {project}_kernel_parameters {{"]
    lines += [f"  struct {d.struct} {d.section.rpartition('.')[2]};" for d in descriptions]
    lines += ["};", "", "/* What holds where nothing else is said. */",
              f"static inline struct {project}_kernel_parameters {project}_default_kernel_parameters(void) {{",
              f"  struct {project}_kernel_parameters p;"]
    for description in descriptions:
        member = description.section.rpartition(".")[2]
        lines += [f"  p.{member}.{c_member(p)} = {c_value(p)};" for p in description.fields]
    return "\n".join(lines + ["  return p;", "}", "", "#endif", ""])
