"""Descriptions of parameters, <name>.parameters.json: a structure, and the section of a file that sets it."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from .description import DescriptionError, Reader
from .parameter import Parameter, read_fields

# Where a file's keys stand below the run file's top, as --set and --print-config have them.
FILES = {"system": "system", "memory": "system.memory.dram", "run": ""}
STRUCT = re.compile(r"([a-z0-9_]+::)*[A-Za-z][A-Za-z0-9_]*\Z")


@dataclass
class Description:
    name: str
    file: str  # of the user: a key of FILES
    section: str  # keys from that file's top, with dots; empty: the top itself
    struct: str  # C++ or C name, without the project's namespace; empty: there is none
    header: str  # that declares the structure by hand; empty: it is generated
    rules: str  # header with check_rules() of the structure; empty: it has none
    language: str  # "c++" or "c"
    text: str
    fields: list  # of Parameter
    source: Path

    @property
    def folder(self):
        return self.source.parent.name

    @property
    def sections(self):
        """Its own first."""
        return list(dict.fromkeys([self.section] + [self.section_of(field) for field in self.fields]))

    def section_of(self, field: Parameter):
        return field.section or self.section

    def fields_in(self, section):
        return [field for field in self.fields if self.section_of(field) == section]


def read_description(file, project="t3"):
    reader = Reader(file)
    item = reader.load()
    reader.keys(item, ("parameters", "section", "text", "fields"), ("file", "struct", "header", "rules", "language"))
    name = reader.name(item["parameters"], "parameters")
    path = Path(file)
    if path.name != f"{name}.parameters.json":
        reader.fail(f"describes parameters {name} and so must be named {name}.parameters.json")
    language = item.get("language", "c++")
    if language not in ("c", "c++"):
        reader.fail(f"language {language!r} must be c or c++")
    struct = item.get("struct", f"{project}_{name}_parameters" if language == "c" else "")
    if not isinstance(struct, str) or (struct and not STRUCT.match(struct)):
        reader.fail(f"struct {struct!r} must be a name such as dma::DmaParameters")
    if item.get("file", "system") not in FILES:
        reader.fail(f"file {item['file']!r} must be one of {', '.join(FILES)}")
    fields = read_fields(reader, item["fields"])
    if not struct:
        fields = [replace(field, member="") for field in fields]
    return Description(name, item.get("file", "system"), item["section"], struct, item.get("header", ""), item.get("rules", ""),
                       language, reader.text(item), fields, path)


def read_descriptions(files, project="t3"):
    """Each structure and each key once."""
    descriptions = [read_description(file, project) for file in sorted(files)]
    keys, structs = {}, {}
    for description in descriptions:
        other = structs.setdefault(description.struct or description.source, description)
        if other is not description:
            raise DescriptionError(f"{description.source}: struct {description.struct} is already described by "
                                   f"{other.source}")
        for field in description.fields:
            key = (description.file, description.section_of(field), field.name)
            if key in keys:
                raise DescriptionError(f"{description.source}: field {field.name}: {keys[key]} describes it already")
            keys[key] = description.source
    return descriptions


@dataclass
class Section:
    """One object of a file of the user."""
    file: str
    name: str
    text: str
    fields: list

    def path_of(self, field):
        """As --set takes it."""
        return ".".join(part for part in (FILES[self.file], self.name, field.name) if part)


def sections_of(descriptions):
    """By file and name: fields of the descriptions that are of the section, first the one of its name, and then of
    others."""
    sections = {}
    for description in sorted(descriptions, key=lambda d: d.name != d.section.rpartition(".")[2]):
        key = (description.file, description.section)
        section = sections.setdefault(key, Section(*key, description.text, []))
        section.fields += description.fields_in(description.section)
    for description in descriptions:
        for name in description.sections[1:]:
            if (description.file, name) not in sections:
                raise DescriptionError(f"{description.source}: no description is of section {name!r}")
            sections[description.file, name].fields += description.fields_in(name)
    return sections
