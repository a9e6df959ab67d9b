"""All described keys: the reference page for people, and a table of C++ for the program."""

import json

from .cpp_header import quoted
from .parameter import default_text, range_text

INTRODUCTION = """\
# Keys

This page lists every parameter of the system file and the memory file. Use it to find a key, its unit and its range.
It is generated from the `*.parameters.json` files beside blocks and kernels. The target `parameter_reference` writes it.
`t3vp keys PATTERN` prints the same from the command line.

Each key stands with the path that `--set`, experiments and `--print-config` use. The system file has it without `system.`,
and the memory file without `system.memory.dram.`. A required key has no default. *Same on all GPUs* means that an entry
of `gpus` cannot set it. [timing.md](../timing.md) gives the source of each system's values.
"""


def meaning(field):
    remarks = " *Same on all GPUs.*" if field.same_on_all_gpus else ""
    return f"{field.text}{remarks}"


def table(section):
    """Rows of Markdown."""
    lines = ["| Key | Unit | Range | Default | Meaning | Source |", "| --- | --- | --- | --- | --- | --- |"]
    lines += [f"| `{field.name}` | {field.unit} | {range_text(field)} | {default_text(field)} | {meaning(field)} | "
              f"{field.source} |" for field in section.fields]
    return lines


def title(section):
    path = section.path_of(section.fields[0]).rpartition(".")[0]
    return path or "the run file"


def page(sections, introduction=INTRODUCTION):
    """`sections` in the order of the page."""
    lines = [introduction]
    for section in sections:
        lines += [f"## {title(section)}", "", section.text, "", *table(section), ""]
    return "\n".join(lines[:-1]) + "\n"


def row(section, field):
    filled = field.default is not None and not field.required and not field.default_text
    texts = (section.file, section.name, field.name, section.path_of(field), field.unit, range_text(field),
             default_text(field), field.text, field.formerly, json.dumps(field.default) if filled else "")
    flags = ("true" if flag else "false" for flag in (field.same_on_all_gpus, field.power_of_two))
    return f"    {{{', '.join(quoted(text) for text in texts)}, {', '.join(flags)}, {field.multiple_of}}},"


def source(sections, namespace):
    """Of described_keys() in io/described_keys.h."""
    rows = [row(section, field) for section in sections for field in section.fields]
    return "\n".join(['// Generated from *.parameters.json; do not edit.', '#include "io/described_keys.h"', "",
                      f"namespace {namespace} {{", "", "const std::vector<DescribedKey>& described_keys() {",
                      "  static const std::vector<DescribedKey> keys = {", *rows, "  };", "  return keys;", "}", "",
                      f"}}  // namespace {namespace}", ""])
