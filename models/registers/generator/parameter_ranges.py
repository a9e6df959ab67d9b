"""C++ checks of structures of parameters against the ranges of their descriptions."""

from .cpp_header import quoted
from .parameter import NANOSECONDS, SCALES, suffix_of
from .parameter_header import c_member, enumerator, whole

UNITS = {"time": " ps", "period": " ps", "bytes": " B"}


def number(value):
    return whole(value) if isinstance(value, int) else f"{value:g}" if value == int(value) else repr(value)


def in_member_unit(p, value, in_c):
    """A limit of the file in the unit of the structure's member, where times in C stay as they are."""
    if p.type == "time" and not in_c:
        return round(value * NANOSECONDS[suffix_of(p.name)] * 1000)
    if p.type == "period":
        return round(1000 / value)
    if p.type == "bytes":
        return round(value * SCALES[suffix_of(p.name)])
    return value


def limits_of(p, in_c):
    """In the member's unit; of a clock's period the file has the rate. A file's least number of whole KiB is any number of
    bytes above the number before it."""
    least, most = in_member_unit(p, p.least, in_c), in_member_unit(p, p.most, in_c)
    if p.type == "bytes" and not p.fractions and p.least > 0:
        least = in_member_unit(p, p.least - 1, in_c) + 1
    return (most, least) if p.type == "period" else (least, most)


def is_double(p, in_c):
    return p.type == "double" or p.of == "double" or (p.type == "time" and in_c)


def condition_of(p, value, in_c):
    """What holds for a number, and the words for it."""
    if p.values:
        numbers = [in_member_unit(p, v, in_c) for v in p.values]
        return " || ".join(f"{value} == {number(v)}" for v in numbers), "one of " + ", ".join(str(v) for v in numbers)
    least, most = limits_of(p, in_c)
    parts = []
    if p.is_above or least > 0 or is_double(p, in_c):
        parts.append(f"{value} {'>' if p.is_above else '>='} {number(least)}")
    parts.append(f"{value} <= {number(most)}")
    text = f"more than {least} and at most {most}" if p.is_above else f"{least} to {most}"
    text += " ns" if p.type == "time" and in_c else UNITS.get(p.type, "")
    if p.power_of_two:
        parts.append(f"check.is_power_of_two({value})")
        text += ", a power of two"
    if p.multiple_of:
        parts.append(f"{value} % {p.multiple_of} == 0")
        text += f", a multiple of {p.multiple_of}"
    condition = " && ".join(parts)
    if p.default_text and p.default is not None and p.type != "list" and not p.values:
        default = in_member_unit(p, p.default, in_c)
        if not least <= default <= most:
            return f"{value} == {number(default)} || ({condition})", f"{default} ({p.default_text}) or {text}"
    return condition, text


def check_lines(p, in_c=False):
    member = c_member(p) if in_c else p.member
    value = f"p.{member}"
    if p.type in ("bool", "text"):
        return []
    if p.type == "enumeration":
        names = ", ".join(enumerator(v) for v in p.values)
        return [f"  check.require(static_cast<unsigned>({value}) < {len(p.values)}, {quoted(p.member)}, "
                f"static_cast<unsigned>({value}), {quoted('one of ' + names)});"]
    if p.type == "list":
        condition, text = condition_of(p, "element", in_c)
        return [f"  for (const auto& element : {value})",
                f"    check.require({condition}, {quoted(p.member)}, element, {quoted(text)});"]
    condition, text = condition_of(p, value, in_c)
    return [f"  check.require({condition}, {quoted(member)}, {value}, {quoted(text)});"]


def has_ranges(description):
    return description.language == "c++" and bool(description.struct) and not description.header


def ranges_header(description, namespace):
    scope, _, name = description.struct.rpartition("::")
    scope = "::".join(part for part in (namespace, scope) if part)
    fields = [p for p in description.fields if p.member]
    includes = [f"{description.folder}/{description.name}_parameters.h", "protocol/parameter_check.h"]
    if description.rules:
        includes.append(description.rules)
    lines = [f"// Generated from {description.source.name}; do not edit.", "#pragma once", "",
             *(f'#include "{header}"' for header in sorted(includes)), "", f"namespace {scope} {{", "",
             "/// Throws ParameterError about the first parameter that is out of its described range or breaks a rule.",
             f"inline void check_parameters(const ParameterCheck& check, const {name}& p) {{"]
    for p in fields:
        lines += check_lines(p)
    if description.rules:
        lines.append("  check_rules(p, rules_of(check));")
    lines += ["}", "", "/// Calls visit(name, member) for each parameter.", "template <typename Visit>",
              f"void visit_parameters({name}& p, Visit&& visit) {{"]
    lines += [f"  visit({quoted(p.member)}, p.{p.member});" for p in fields]
    return "\n".join(lines + ["}", "", f"}}  // namespace {scope}", ""])


def kernel_ranges_header(descriptions, project, namespace):
    """The check of the structures of all kernels, which are C."""
    lines = ["// Generated from <name>.parameters.json in the folders of the kernels; do not edit.", "#pragma once", "",
             '#include "protocol/parameter_check.h"', f'#include "{project}/kernel_parameters.h"', "",
             f"namespace {namespace} {{", ""]
    for d in descriptions:
        lines += [f"inline void check_parameters(const ParameterCheck& check, const {d.struct}& p) {{"]
        for p in d.fields:
            lines += check_lines(p, in_c=True)
        lines += ["}", ""]
    lines += ["/// Throws ParameterError about the first parameter that is out of its described range.",
              f"inline void check_parameters(const ParameterCheck& check, const {project}_kernel_parameters& p) {{"]
    names = [d.section.rpartition(".")[2] for d in descriptions]
    lines += [f"  check_parameters(check.below({quoted(name)}), p.{name});" for name in names]
    lines += ["}", "", "/// Calls visit(name, member) for each parameter.", "template <typename Visit>",
              f"void visit_parameters({project}_kernel_parameters& p, Visit&& visit) {{"]
    for d, name in zip(descriptions, names):
        lines += [f'  visit("{name}.{c_member(p)}", p.{name}.{c_member(p)});' for p in d.fields]
    return "\n".join(lines + ["}", "", f"}}  // namespace {namespace}", ""])
