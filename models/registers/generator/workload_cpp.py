"""C++ headers of workloads: what reads a section of the run file, what writes it back, and what packs it for programs."""

import json

from .description import camel

CPP_TYPES = {"u32": "std::uint32_t", "u64": "std::uint64_t", "bool": "bool", "f64": "double"}
NUMBERS = ("u32", "u64", "f64")


def settings_name(structure):
    return camel(structure.name) + "Settings"


def words_name(argument):
    return f"{argument.type}_words"


def cpp_type(argument, project):
    if argument.type == "tile":
        return "TileWords"
    return CPP_TYPES.get(argument.type, f"{project}_{argument.type}")


def absent(argument):
    """What the member is where the run file says nothing, and the platform completes it."""
    return {"u32": "std::uint32_t{0}", "u64": "std::uint64_t{0}", "bool": "false", "f64": "0.0"}[argument.type]


def literal(argument):
    value = argument.default
    if argument.type in ("u32", "u64"):
        return f"{CPP_TYPES[argument.type]}{{{value}}}"
    if argument.type == "f64":
        return f"double{{{value}}}"
    return json.dumps(value)


def reading(argument, target):
    key = json.dumps(argument.key)
    place = f"{target}.{argument.name}"
    if argument.type == "tile":
        if target == "settings":
            return [f"  if (section.contains({key})) {place} = tile_words(section.at({key}));"]
        return [f"  if (section.contains({key})) set_tile(section.at({key}), {place}_rows, {place}_columns);",
                f"  else {place}_rows = {place}_columns = 0;"]
    if argument.words:
        word = f"section.at({key})" if argument.default is None else f"section.value({key}, {json.dumps(argument.default)})"
        if argument.type == "bool":
            return [f"  {place} = {word} == {json.dumps(argument.words[1])};"]
        if argument.default_text and argument.default is None:
            return [f"  {place} = section.contains({key}) ? value_of({word}, {words_name(argument)}) : {words_name(argument)}->value;"]
        return [f"  {place} = value_of({word}, {words_name(argument)});"]
    if argument.is_required:
        return [f"  {place} = section.at({key}).get<{CPP_TYPES[argument.type]}>();"]
    default = absent(argument) if argument.default is None else literal(argument)
    return [f"  {place} = section.value({key}, {default});"]


def written(argument, source):
    place = f"{source}.{argument.name}"
    if argument.type == "tile":
        return f"text_of(TileWords{{{place}_rows, {place}_columns}})" if source == "value" else f"text_of({place})"
    if argument.words and argument.type == "bool":
        return f"{place} ? {json.dumps(argument.words[1])} : {json.dumps(argument.words[0])}"
    return f"word_of({place}, {words_name(argument)})" if argument.words else place


def parameters(structure, project, is_const):
    const = "const " if is_const else ""
    result = [f"{const}{project}_{structure.name}& value"] if structure.members else []
    if structure.settings:
        result.append(f"{const}{settings_name(structure)}& settings")
    return ", ".join(result)


def settings_lines(structure, project):
    lines = [f"/// What a run file says of {structure.key} that programs are not given.",
             f"struct {settings_name(structure)} {{"]
    for a in structure.settings:
        start = "{}" if a.type not in NUMBERS else " = 0"
        lines.append(f"  {cpp_type(a, project)} {a.name}{start};  ///< {a.text}")
    return [*lines, "};", ""]


def section_lines(structure, project):
    """read_<structure> and json_of: keys with a schema of their own are hand-written code's."""
    by_hand = [a.key for a in structure.keys if a.schema]
    note = f" It leaves out {', '.join(by_hand)}." if by_hand else ""
    own = [a for a in structure.keys if not a.schema]
    lines = settings_lines(structure, project) if structure.settings else []
    lines += [f"/// Reads a section that the schema has checked, with its defaults. What the platform completes is 0.{note}",
              f"inline void read_{structure.name}(const nlohmann::json& section, {parameters(structure, project, False)}) {{"]
    for a in own:
        lines += reading(a, "value" if a.is_firmware else "settings")
    lines += ["}", "", f"/// The section that says the same, in the run file's words.{note}",
              f"inline nlohmann::json json_of({parameters(structure, project, True)}) {{", "  return {"]
    lines += [f"      {{{json.dumps(a.key)}, {written(a, 'value' if a.is_firmware else 'settings')}}}," for a in own]
    return [*lines, "  };", "}", ""]


def packed_lines(workload, project):
    structures = workload.firmware_structures
    names = ", ".join(f"const {project}_{s.name}& {s.name}" for s in structures)
    more = ", const std::vector<unsigned char>& tail" if workload.has_tail else ""
    size = f"{workload.bytes} + tail.size()" if workload.has_tail else workload.bytes
    lines = [f"/// What programs are given of it{', and the bytes behind' if workload.has_tail else ''}.",
             f"inline PackedWorkload packed({names}{more}) {{",
             f"  PackedWorkload result{{{json.dumps(workload.name)}, std::vector<unsigned char>({size})}};"]
    offset = 0
    for s in structures:
        lines.append(f"  {project}_{s.name}_to(&{s.name}, result.bytes.data() + {offset});")
        offset += s.bytes
    if workload.has_tail:
        lines.append(f"  std::copy(tail.begin(), tail.end(), result.bytes.begin() + {workload.bytes});")
    return [*lines, "  return result;", "}", ""]


def header(workload, project):
    lines = [f"// The sections of a run file that describe the workload {workload.name}. Generated from {workload.file}.",
             "#pragma once", "", "#include <algorithm>", "#include <cstdint>", "#include <nlohmann/json.hpp>", "#include <vector>", "",
             f'#include "{project}/workloads/{workload.name}.h"', '#include "workloads/shared/argument_words.h"',
             '#include "workloads/shared/packed_workload.h"', "", "namespace t3vp {", ""]
    for e in workload.enumerations:
        lines.append(f"inline constexpr ArgumentWord<{project}_{e.name}> {e.name}_words[] = {{")
        lines += [f"    {{{json.dumps(word)}, {value}}}," for word, value in e.values.items()]
        lines += ["};", ""]
    for structure in workload.structures:
        if structure.key:
            lines += section_lines(structure, project)
    return "\n".join([*lines, *packed_lines(workload, project), "}  // namespace t3vp", ""])


def keys_of(workload):
    return sorted({"label", *workload.own_keys, *workload.uses})


def descriptions_header(workloads):
    """All rooms, for who chooses one of them."""
    lines = ["// The workloads that there are, as their descriptions have them. Generated.", "#pragma once", "",
             "#include <array>", "#include <string_view>", "#include <vector>", "", "namespace t3vp {", "",
             "struct MethodDescription {", "  std::string_view name, program;", "};", "",
             "struct WorkloadDescription {",
             "  std::string_view name;",
             "  std::string_view given_by;  ///< the key that says that a run file's workload is this one; empty: any other",
             "  std::vector<MethodDescription> methods;       ///< the first one is the default",
             "  std::vector<std::string_view> keys;           ///< that a run file's `workload` may have then",
             "  std::vector<std::string_view> builds_on;      ///< other workloads", "};", "",
             f"inline const std::array<WorkloadDescription, {len(workloads)}> workload_descriptions = {{{{"]
    for w in workloads:
        methods = ", ".join(f"{{{json.dumps(m.name)}, {json.dumps(m.program)}}}" for m in w.methods)
        lines += [f"    {{{json.dumps(w.name)}, {json.dumps(w.given_by)}, {{{methods}}},",
                  f"     {{{', '.join(json.dumps(k) for k in keys_of(w))}}},",
                  f"     {{{', '.join(json.dumps(b) for b in w.builds_on)}}}}},"]
    return "\n".join([*lines, "}};", "", "}  // namespace t3vp", ""])
