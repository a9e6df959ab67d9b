"""C headers of workloads: the structures that programs read, their bytes, and what gives a program its own."""

C_TYPES = {"u32": "uint32_t", "u64": "uint64_t", "bool": "bool", "f64": "double"}


def c_members(project, argument):
    """Name, declaration and size of each; a tile is two numbers."""
    if argument.type == "tile":
        return [(f"{argument.name}_{side}", f"uint32_t {argument.name}_{side}", "u32", 0) for side in ("rows", "columns")]
    kind = C_TYPES.get(argument.type, f"enum {project}_{argument.type}")
    array = f"[{argument.count}]" if argument.count else ""
    return [(argument.name, f"{kind} {argument.name}{array}", argument.type, argument.count)]


def size_of(kind):
    return {"u64": 8, "f64": 8, "bool": 1}.get(kind, 4)


def comment(argument):
    """The unit is said where the text does not."""
    words = f" Words of a run file: {argument.words[0]}, {argument.words[1]}." if argument.type == "bool" and argument.words else ""
    return f"{argument.text}{words}"


def placed(project, structure):
    """Name, type, count and offset of each number of the structure."""
    offset, result = 0, []
    for argument in structure.members:
        for name, _, kind, count in c_members(project, argument):
            result.append((name, kind, count, offset))
            offset += size_of(kind) * max(count, 1)
    return result


def writing(name, kind, count, offset):
    size = size_of(kind)
    if count:
        return [f"  for (uint32_t i = 0; i < {count}; ++i) t3_put_number(bytes + {offset} + {size} * i, {size}, "
                f"value->{name}[i]);"]
    if kind == "f64":
        return [f"  t3_put_double(bytes + {offset}, value->{name});"]
    return [f"  t3_put_number(bytes + {offset}, {size}, value->{name});"]


def reading(name, kind, count, offset):
    size = size_of(kind)
    mask = " & UINT32_MAX" if kind == "u32" else ""
    if count:
        return [f"  for (uint32_t i = 0; i < {count}; ++i) value.{name}[i] = t3_number_at(bytes + {offset} + {size} * i, "
                f"{size}){mask};"]
    at = f"bytes + {offset}"
    if kind == "f64":
        return [f"  value.{name} = t3_double_at({at});"]
    if kind == "bool":
        return [f"  value.{name} = t3_number_at({at}, 1) != 0;"]
    if kind in ("u32", "u64"):
        return [f"  value.{name} = t3_number_at({at}, {size}){mask};"]
    # Any number may stand in the bytes: an enumeration of 32 bits has them all.
    return [f"  const uint32_t {name} = t3_number_at({at}, 4) & UINT32_MAX;",
            f"  memcpy(&value.{name}, &{name}, sizeof {name});"]


def enumeration_lines(enumeration, project):
    lines = [f"enum {project}_{enumeration.name} {project.upper()}_OF_32_BITS {{"]
    last = list(enumeration.values.values())[-1]
    lines += [f"  {constant}{'' if constant == last else ','} /* {word} */"
              for word, constant in enumeration.values.items()]
    return [*lines, "};", ""]


def structure_lines(workload, structure, project):
    name, macro = f"{project}_{structure.name}", f"{project}_{structure.name}".upper()
    offset = 0
    for before in workload.firmware_structures:
        if before is structure:
            break
        offset += before.bytes
    lines = [f"/* {structure.text} */", f"struct {name} {{"]
    for argument in structure.members:
        declarations = [declaration for _, declaration, _, _ in c_members(project, argument)]
        lines += [f"  {d};" for d in declarations[:-1]] + [f"  {declarations[-1]}; /* {comment(argument)} */"]
    lines += ["};", "", f"#define {macro}_BYTES {structure.bytes}u /* in memory, little endian */", "",
              f"static inline void {name}_to(const struct {name}* value, unsigned char* bytes) {{"]
    for number in placed(project, structure):
        lines += writing(*number)
    lines += ["}", "", f"static inline struct {name} {name}_from(const unsigned char* bytes) {{", f"  struct {name} value;"]
    for number in placed(project, structure):
        lines += reading(*number)
    lines += ["  return value;", "}", "",
              f"/* {project.upper()}_INVALID_ARGUMENT where the run is no {workload.name}'s. */",
              f"static inline enum {project}_status {name}_of(const struct {project}_run* run, struct {name}* out) {{",
              f"  if (!{project}_is_{workload.name}_run(run)) return {project.upper()}_INVALID_ARGUMENT;",
              f"  *out = {name}_from(run->arguments + {offset});", f"  return {project.upper()}_OK;", "}", ""]
    return lines


def header(workload, project):
    guard = f"{project}_workloads_{workload.name}_h".upper()
    includes = {'"t3/little_endian.h"', '"t3/run.h"'}
    enumerations = {e.name: e for e in workload.enumerations}
    for structure in workload.structures:
        for argument in structure.members:
            if argument.type == "element":
                includes.add(f'"{project}/element.h"')
            elif argument.type in enumerations:
                includes.add(f'"{enumerations[argument.type].include or project + "/enumeration.h"}"')
    macro = f"{project}_{workload.name}".upper()
    lines = [f"/* What programs are given of the workload {workload.name}. {workload.text}", f" * Generated from {workload.file}. */",
             f"#ifndef {guard}", f"#define {guard}", "", "#include <stdbool.h>", "#include <stdint.h>", "#include <string.h>",
             "", *[f"#include {include}" for include in sorted(includes)], ""]
    for enumeration in workload.enumerations:
        if not enumeration.include:
            lines += enumeration_lines(enumeration, project)
    has = "begins_with" if workload.has_tail else "is_of"
    lines += [f"#define {macro}_RUN \"{workload.name}\" /* name of the workload */",
              f"#define {macro}_RUN_BYTES {workload.bytes}u /* of all that follows"
              f"{', behind which are more' if workload.has_tail else ''} */", "",
              f"static inline bool {project}_is_{workload.name}_run(const struct {project}_run* run) {{",
              f"  return {project}_run_{has}(run, {macro}_RUN, {macro}_RUN_BYTES);", "}", ""]
    for structure in workload.firmware_structures:
        lines += structure_lines(workload, structure, project)
    return "\n".join([*lines, "#endif", ""])


def program_symbol(program, project):
    return f"{project}_run_{program.replace('-', '_')}"


def programs_header(workloads, project):
    """Declares what the platform comes with."""
    guard = f"{project}_programs_h".upper()
    lines = ["/* The programs that the platform comes with, by workload. Generated. */", f"#ifndef {guard}", f"#define {guard}",
             "", f'#include "{project}/run.h"', "", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for workload in workloads:
        lines += [f"/* {workload.name} */"]
        lines += [f"{project}_program {program_symbol(program, project)};" for program in sorted(workload.programs)]
    return "\n".join([*lines, "", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])


def built_in_source(workloads, project):
    """The table of programs and kernels that the platform comes with."""
    programs = sorted(program for workload in workloads for program in workload.programs)
    lines = ["/* Generated from the workloads' descriptions. */", '#include "built_in.h"', "", "#include <stddef.h>", "",
             '#include "kernels/kernels.h"', f'#include "{project}/programs.h"', "",
             f"static const struct {project}_named_program programs[] = {{"]
    lines += [f'    {{"{program}", {program_symbol(program, project)}}},' for program in programs]
    return "\n".join([*lines, "    {NULL, NULL}};", "",
                      f"const struct {project}_export_table {project}_built_in = {{.version = {project.upper()}_EXPORTS_VERSION,",
                      f"                                            .layout = {project.upper()}_EXPORTS_LAYOUT,",
                      '                                            .name = "t3vp",',
                      "                                            .programs = programs,",
                      f"                                            .kernels = {project}_kernels}};", ""])
