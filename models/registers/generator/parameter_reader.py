"""C++ that reads sections of the user's files into structures of parameters."""

from .cpp_header import quoted
from .parameter import NANOSECONDS, suffix_of
from .parameter_header import c_member, enumerator


def headers_of(descriptions):
    return sorted(f"{d.folder}/{d.name}_parameters.h" for d in descriptions if d.language == "c++" and d.struct)


def is_read(description):
    return bool(description.struct)


def function_name(description, section):
    base = f"read_{description.name}"
    return base if section == description.section else f"{base}_of_{section.replace('.', '_')}"


def reading(p, is_c):
    key = quoted(p.name)
    if is_c and p.type == "time":
        return f"read_value(section, {key}, p.{c_member(p)});"
    if p.type == "time":
        return f"read_time(section, {key}, {NANOSECONDS[suffix_of(p.name)]:g}, p.{p.member});"
    if p.type == "period":
        return f"read_period(section, {key}, p.{p.member});"
    if p.type == "bytes":
        return f"read_bytes(section, {key}, {p.scale}.0, p.{p.member});"
    if p.type == "enumeration":
        return f"read_enumerator(section, {key}, {{{', '.join(quoted(value) for value in p.values)}}}, p.{p.member});"
    return f"read_value(section, {key}, p.{p.member});"


def signatures(description):
    kind = description.struct
    for section in description.sections:
        fields = [p for p in description.fields_in(section) if p.member]
        if fields:
            yield f"void {function_name(description, section)}(const nlohmann::json& section, {kind}& p)", section, fields


def kernel_signature(project):
    return f"void read_kernels(const nlohmann::json& kernels, {project}_kernel_parameters& p)"


def header(descriptions, project, namespace):
    described = [d for d in descriptions if is_read(d)]
    kernels = [d for d in described if d.language == "c"]
    lines = ["// Generated from *.parameters.json; do not edit. Each sets what a section of a file gives, and leaves what it",
             "// does not have as it is. The file's schema has been checked.", "#pragma once", "",
             "#include <nlohmann/json_fwd.hpp>", ""]
    lines += [f'#include "{name}"' for name in headers_of(described)]
    if kernels:
        lines.append(f'#include "{project}/kernel_parameters.h"')
    lines += ["", f"namespace {namespace} {{", ""]
    for description in described:
        if description.language == "c":
            continue
        for signature, section, _ in signatures(description):
            place = f"section {section}" if section else "the file's top"
            lines += [f"/// Of the {description.file} file: {place}.", signature + ";"]
    if kernels:
        lines += ["/// Of the system file: section kernels.", kernel_signature(project) + ";"]
    return "\n".join(lines + ["", f"}}  // namespace {namespace}", ""])


def source(descriptions, project, namespace, include):
    """`include` is the header's name; the functions that it calls are hand-written, in io/parameter_values.h."""
    lines = ["// Generated from *.parameters.json; do not edit.", f'#include "{include}"', "",
             "#include <nlohmann/json.hpp>", "", '#include "io/parameter_values.h"', "", f"namespace {namespace} {{", ""]
    described = [d for d in descriptions if is_read(d)]
    for description in described:
        is_c = description.language == "c"
        for signature, _, fields in signatures(description):
            lines += [("static " if is_c else "") + signature + " {"]
            lines += [f"  {reading(p, is_c)}" for p in fields]
            lines += ["}", ""]
    kernels = [d for d in described if d.language == "c"]
    if kernels:
        lines.append(kernel_signature(project) + " {")
        for d in kernels:
            name = d.section.rpartition(".")[2]
            lines += [f"  if (kernels.contains({quoted(name)})) {function_name(d, d.section)}(kernels.at({quoted(name)}), "
                      f"p.{name});"]
        lines += ["}", ""]
    return "\n".join(lines + [f"}}  // namespace {namespace}", ""])
