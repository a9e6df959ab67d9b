"""All described keys: the reference page for people, and a table of C++ for the program."""

import json

from .cpp_header import quoted
from .parameter import default_text, range_text

INTRODUCTION = """\
# Keys

This page lists every key of the run file, the experiment file, the models file, the system file and the memory file. Use
it to find a key, its unit and its range. `t3vp keys PATTERN` prints the same from the command line.

Each key stands with the path that `--set`, experiments and `--print-config` use. The system file has it without `system.`,
and the memory file without `system.memory.dram.`. A required key has no default. *Same on all GPUs* means that an entry
of `gpus` cannot set it. [Sources of parameters](../models/parameter-sources.md) gives the source of each system's values.

The target `parameter_reference` writes this page. It reads `run.schema.json`, `experiment.schema.json` and
`models.schema.json` in `configs/schema`, `system.skeleton.json` in `platform/io/schemas`, and the `*.parameters.json` files
beside blocks and kernels.
"""

# Of pages of keys that schemas describe, by the kind of file.
OF_FILES = {
    "run": ("The run file", "Keys below `workload` are on the page [workloads.md](workloads.md)."),
    "models": ("The models file", "`NAME` is any name. `--set` does not take these keys."),
    "system": ("The system file", "These keys name it, its libraries and its exceptions. Its parameters follow by section. A "
               "memory file has `name` and `description` as well."),
    "experiment": ("The experiment file", "The elements of a list have the keys behind `[]`. `--set` does not take these keys."),
}


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


def schema_section(file, keys):
    """Keys of workloads have a page of their own."""
    heading, text = OF_FILES[file]
    lines = [f"## {heading}", "", text, "", "| Key | Unit | Range | Default | Meaning |", "| --- | --- | --- | --- | --- |"]
    lines += [f"| `{'.'.join(part for part in (key.section, key.name) if part)}` | {key.unit} | {key.range} | {key.default} "
              f"| {key.text} |" for key in keys if key.file == file and key.section.partition(".")[0] != "workload"]
    return [*lines, ""]


def page(sections, schema_keys=(), introduction=INTRODUCTION):
    """`sections` in the order of the page, behind what schemas describe."""
    lines = [introduction]
    for file in dict.fromkeys(key.file for key in schema_keys):
        lines += schema_section(file, schema_keys)
    for section in sections:
        lines += [f"## {title(section)}", "", section.text, "", *table(section), ""]
    return "\n".join(lines[:-1]) + "\n"


def row(section, field):
    filled = field.default is not None and not field.required and not field.default_text
    texts = (section.file, section.name, field.name, section.path_of(field), field.unit, range_text(field),
             default_text(field), field.text, field.formerly, json.dumps(field.default) if filled else "")
    flags = ("true" if flag else "false" for flag in (field.same_on_all_gpus, field.power_of_two))
    return f"    {{{', '.join(quoted(text) for text in texts)}, {', '.join(flags)}, {field.multiple_of}}},"


def schema_row(key):
    texts = (key.file, key.section, key.name, key.path, key.unit, key.range, key.default, key.text, "", "")
    return f"    {{{', '.join(quoted(text) for text in texts)}, false, false, 0}},"


def source(sections, schema_keys, namespace):
    """Of described_keys() in io/described_keys.h."""
    rows = [schema_row(key) for key in schema_keys]
    rows += [row(section, field) for section in sections for field in section.fields]
    return "\n".join(['// Generated from *.parameters.json and *.schema.json; do not edit.', '#include "io/described_keys.h"', "",
                      f"namespace {namespace} {{", "", "const std::vector<DescribedKey>& described_keys() {",
                      "  static const std::vector<DescribedKey> keys = {", *rows, "  };", "  return keys;", "}", "",
                      f"}}  // namespace {namespace}", ""])
