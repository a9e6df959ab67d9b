"""The reference page of workloads, for people."""

from .workload_c import placed, size_of
from .workload_schema import default_of

HEAD = """# Workloads

This page lists every key of `workload` in a run file, and what a program is given of it. It is generated from
`platform/workloads/<name>/<name>.arguments.json`: build the target `workload_reference` after a change.

A run file names one workload by its key, such as `"workload": {"gemv": {...}}`. Every workload may have a `label`, its
name for people. `method` is the way in which the workload runs; the first one in each table is the default.

A program reads its structure by `t3_<structure>_of(run, &value)` (`t3/workloads/<workload>.h`). The function refuses
the bytes of another workload.
"""


def type_of(argument):
    if argument.words:
        return ", ".join(f"`{word}`" for word in argument.words)
    names = {"u32": "integer", "u64": "integer", "f64": "number", "bool": "true or false", "tile": "`ROWSxCOLUMNS`",
             "text": "text", "words": "see the schema"}
    return names[argument.type]


def range_of(argument):
    return f"{argument.range[0]:.10g} to {argument.range[1]:.10g}" if argument.range else ""


def key_rows(arguments):
    lines = ["| Key | Value | Unit | Range | Default | Meaning |", "| --- | --- | --- | --- | --- | --- |"]
    for a in arguments:
        default = default_of(a) or ("required" if a.is_required else "none")
        lines.append(f"| `{a.key}` | {type_of(a)} | {a.unit} | {range_of(a)} | {default} | {a.text} |")
    return [*lines, ""]


def structure_rows(structure, project):
    texts = {}
    for a in structure.members:
        for name in ([f"{a.name}_rows", f"{a.name}_columns"] if a.type == "tile" else [a.name]):
            texts[name] = a.text
    lines = [f"`struct {project}_{structure.name}`, {structure.bytes} bytes:", "",
             "| Offset | Member | Bytes | Meaning |", "| --- | --- | --- | --- |"]
    for name, kind, count, offset in placed(project, structure):
        lines.append(f"| `{offset:#04x}` | {name}{f'[{count}]' if count else ''} | {size_of(kind) * max(count, 1)} | {texts[name]} |")
    return [*lines, ""]


def operation_rows(operations):
    lines = ["Operations, each a folder in `platform/workloads/collective/operations`. The first algorithm is the default:",
             "", "| Number | Operation | Algorithms | |", "| --- | --- | --- | --- |"]
    for o in operations:
        lines.append(f"| {o.number} | `{o.name}` | {', '.join(f'`{a}`' for a in o.algorithms)} | {o.text} |")
    return [*lines, ""]


def page(workloads, operations, project):
    lines = [HEAD]
    for workload in workloads:
        lines += [f"## {workload.name}", "", workload.text, "", "| Method | Program | |", "| --- | --- | --- |"]
        lines += [f"| `{m.name}` | {m.program} | {m.text} |" for m in workload.methods]
        lines.append("")
        if workload.uses:
            lines += [f"It takes {', '.join(f'`{key}`' for key in workload.uses)} of a workload that it builds on.", ""]
        if workload.keys:
            lines += ["Keys of `workload`:", "", *key_rows(workload.keys)]
        for structure in workload.structures:
            if structure.key:
                also = f" The program is then {structure.program}." if structure.program else ""
                lines += [f"Keys of `workload.{structure.key}`. {structure.text}{also}", "", *key_rows(structure.keys)]
        if any(e.is_operations for e in workload.enumerations):
            lines += operation_rows(operations)
        for structure in workload.firmware_structures:
            lines += structure_rows(structure, project)
            if structure.has_tail:
                lines += [structure.text, ""]
    return "\n".join(lines).rstrip("\n") + "\n"
