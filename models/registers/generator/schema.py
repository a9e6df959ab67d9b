"""JSON Schemas of described sections. A skeleton is a schema in which {"$described": "dma"} stands for the section `dma`:
its properties and required keys are added to those that the skeleton has there. "$only": [keys] takes a part of the
section, "$optional": true requires none, "kernels.*" is an object of all sections directly below `kernels`."""

import json

from .description import DescriptionError
from .parameter import INTEGERS

LINE = 120


def type_schema(parameter, kind):
    """Of a value, or of a list's element."""
    if kind == "bool":
        return {"type": "boolean"}
    if parameter.values:
        return {"enum": parameter.values}
    if kind in ("text", "enumeration"):
        schema = {"type": "string"}
        if parameter.pattern:
            schema["pattern"] = parameter.pattern
        else:
            schema["minLength"] = 1
        if parameter.example:
            schema["examples"] = [parameter.example]
        return schema
    is_whole = kind in INTEGERS or (kind == "bytes" and not parameter.fractions)
    schema = {"type": "integer" if is_whole else "number"}
    if parameter.least is not None:
        schema["exclusiveMinimum" if parameter.is_above else "minimum"] = parameter.least
        schema["maximum"] = parameter.most
    return schema


def parameter_schema(parameter):
    if parameter.type == "list":
        schema = {"type": "array", "minItems": parameter.count[0], "maxItems": parameter.count[1],
                  "items": type_schema(parameter, parameter.of)}
    else:
        schema = type_schema(parameter, parameter.type)
    if parameter.default is not None and not parameter.required and not parameter.default_text:
        schema["default"] = parameter.default
    schema["description"] = parameter.text
    if parameter.default_text and not parameter.required:
        schema["description"] += f" Default: {parameter.default_text}."
    return schema


def object_schema(text, fields, is_optional=False):
    schema = {"type": "object", "additionalProperties": False}
    if text:
        schema["description"] = text
    required = [field.name for field in fields if field.required and not is_optional]
    if required:
        schema["required"] = required
    schema["properties"] = {field.name: parameter_schema(field) for field in fields}
    return schema


def merge(described, skeleton):
    """The skeleton's keys go first, and its text and type are the ones that count."""
    merged = {**skeleton, **{key: value for key, value in described.items() if key not in skeleton}}
    for key in ("required", "properties"):
        merged.pop(key, None)
    required = list(dict.fromkeys(skeleton.get("required", []) + described.get("required", [])))
    if required:
        merged["required"] = required
    merged["properties"] = {**skeleton.get("properties", {}), **described["properties"]}
    return merged


class Expansion:
    """Puts sections of one file of the user in their places in its skeleton; `order` is that of these places."""

    def __init__(self, file, sections):
        self.file = file
        self.sections = {section.name: section for section in sections.values() if section.file == file}
        self.order = []

    def section(self, name):
        if name not in self.sections:
            raise DescriptionError(f"{self.file}: no description is of section {name!r}")
        if name not in self.order:
            self.order.append(name)
        return self.sections[name]

    def children(self, parent):
        """An object with the sections directly below."""
        names = [name for name in self.sections if name.rpartition(".")[0] == parent]
        if not names:
            raise DescriptionError(f"{self.file}: no description is of a section below {parent!r}")
        objects = {name.rpartition(".")[2]: object_schema(self.section(name).text, self.sections[name].fields)
                   for name in names}
        schema = {"type": "object", "additionalProperties": False}
        required = [name for name, its in objects.items() if "required" in its]
        if required:
            schema["required"] = required
        schema["properties"] = objects
        return schema

    def described(self, node):
        name = node["$described"]
        if name.endswith(".*"):
            return self.children(name[:-2])
        section = self.section(name)
        only = node.get("$only")
        fields = [field for field in section.fields if only is None or field.name in only]
        if only is not None and len(fields) != len(only):
            raise DescriptionError(f"{self.file}: section {name!r} lacks some of {', '.join(only)}")
        return object_schema(section.text, fields, node.get("$optional", False))

    def expand(self, node):
        if isinstance(node, list):
            return [self.expand(element) for element in node]
        if not isinstance(node, dict):
            return node
        described = self.described(node) if "$described" in node else None
        rest = {key: self.expand(value) for key, value in node.items()
                if key not in ("$described", "$only", "$optional")}
        return rest if described is None else merge(described, rest)


def schema_from(skeleton, file, sections):
    """The schema of a file of the user, and the names of its sections in the schema's order."""
    expansion = Expansion(file, sections)
    schema = expansion.expand(skeleton)
    left_out = [name for name in expansion.sections if name not in expansion.order]
    if left_out:
        raise DescriptionError(f"{file}.skeleton.json: has no place for section {left_out[0]!r}")
    return schema, expansion.order


def filled(values, indent, inner):
    """A list of plain values, as many on a line as fit."""
    lines, line = ["["], inner
    for position, value in enumerate(values):
        word = json.dumps(value, ensure_ascii=False) + ("," if position + 1 < len(values) else "")
        if len(line) + len(word) > LINE and line != inner:
            lines.append(line.rstrip())
            line = inner
        line += word + " "
    return lines + [line.rstrip(), " " * indent + "]"]


def lines_of(value, indent, room):
    """As people lay JSON out: on one line what fits there."""
    short = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or (indent > 0 and len(short) <= room):
        return [short]
    inner = " " * (indent + 2)
    if isinstance(value, list) and not any(isinstance(element, (dict, list)) for element in value):
        return filled(value, indent, inner)
    items = list(value.items()) if isinstance(value, dict) else [(None, element) for element in value]
    lines = ["{" if isinstance(value, dict) else "["]
    for position, (key, element) in enumerate(items):
        begin = "" if key is None else json.dumps(key) + ": "
        comma = "," if position + 1 < len(items) else ""
        its = lines_of(element, indent + 2, LINE - len(inner) - len(begin) - 1)
        lines.append(inner + begin + its[0])
        lines += its[1:]
        lines[-1] += comma
    lines.append(" " * indent + ("}" if isinstance(value, dict) else "]"))
    return lines


def text_of(schema):
    return "\n".join(lines_of(schema, 0, LINE)) + "\n"
