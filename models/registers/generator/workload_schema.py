"""The part of the run file's schema that describes workloads, and their names of methods."""

import json

from .description import DescriptionError

TILE = {"type": "string", "pattern": "^[1-9][0-9]{0,3}x[1-9][0-9]{0,3}$", "examples": ["128x256"]}
LABEL = {"type": "string", "minLength": 1, "description": "Name of the workload for people. Default: made of its numbers."}

TEXT = "What the GPUs compute. docs/reference/workloads.md lists the keys by workload. Default: required without program."


def value_schema(argument):
    if argument.schema:
        return dict(argument.schema)
    if argument.words:
        return {"enum": argument.words}
    if argument.type == "bool":
        return {"type": "boolean"}
    if argument.type == "tile":
        return dict(TILE)
    if argument.type == "text":
        return {"type": "string"}
    return {"type": "number" if argument.type == "f64" else "integer", "minimum": argument.range[0],
            "maximum": argument.range[1]}


def default_of(argument):
    """For people; empty where there is none."""
    if argument.default_text:
        return argument.default_text
    if argument.default is None:
        return ""
    return argument.default if isinstance(argument.default, str) else json.dumps(argument.default)


def argument_schema(argument):
    """A default that a file could have is "default"; words for people stand at the end of the description."""
    schema = {**value_schema(argument), "description": argument.text}
    if argument.default_text:
        schema["description"] += f" Default: {argument.default_text}."
    elif argument.default is not None:
        schema["default"] = argument.default
    if argument.unit:
        schema["unit"] = argument.unit
    if argument.formerly:
        schema["formerly"] = argument.formerly
    return schema


def structure_schema(structure):
    schema = {"type": "object", "additionalProperties": False}
    required = [a.key for a in structure.keys if a.is_required]
    if required:
        schema["required"] = required
    schema["description"] = structure.text
    schema["properties"] = {a.key: argument_schema(a) for a in structure.keys}
    return schema


def conditions(workloads):
    """What a workload needs, by the key that says which one it is."""
    free = [w for w in workloads if w.given_by and not w.needs]
    rest = [w for w in workloads if w.given_by and w.needs]
    last = [w for w in workloads if not w.given_by]
    schema = last[0].needs if last else {"required": [w.given_by for w in workloads][:1]}
    for workload in reversed(rest):
        schema = {"if": {"required": [workload.given_by]}, "then": workload.needs, "else": schema}
    if free:
        schema = {"if": {"anyOf": [{"required": [w.given_by]} for w in free]}, "then": {}, "else": schema}
    return schema


def workload_schema(workloads):
    properties = {"label": LABEL}
    for workload in workloads:
        properties.update({k.key: argument_schema(k) for k in workload.keys})
        properties.update({s.key: structure_schema(s) for s in workload.structures if s.key})
    return {"type": "object", "additionalProperties": False, "description": TEXT, "properties": properties,
            **conditions(workloads)}


def method_schema(workloads):
    names = dict.fromkeys(method.name for workload in workloads for method in workload.methods)
    return {"enum": list(names), "description": "How the workload runs: one of its methods (docs/reference/workloads.md). Default: "
                                                 "the first one of the workload."}


def text_of(value, indent, depth):
    """Objects with properties are laid out, all else is a line; `depth` levels of properties at most."""
    if depth == 0 or not isinstance(value, dict) or "properties" not in value:
        return json.dumps(value, ensure_ascii=False)
    lines = []
    for key, item in value.items():
        if key == "properties":
            inner = ",\n".join(f"{indent}    {json.dumps(k)}: {text_of(v, indent + '    ', depth - 1)}" for k, v in item.items())
            lines.append(f'{indent}  "properties": {{\n{inner}\n{indent}  }}')
        else:
            lines.append(f"{indent}  {json.dumps(key)}: {json.dumps(item, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def replaced(text, key, value, file):
    """The schema with another property `key` at its top."""
    begin = f'\n    "{key}": {{'
    at = text.find(begin)
    if at < 0:
        raise DescriptionError(f"{file}: \"properties\" has no \"{key}\"")
    start = at + len(begin) - 1
    end = json.JSONDecoder().raw_decode(text, start)[1]
    return text[:start] + value + text[end:]


def schema_text(text, workloads, file):
    text = replaced(text, "workload", text_of(workload_schema(workloads), "    ", 2), file)
    return replaced(text, "method", json.dumps(method_schema(workloads), ensure_ascii=False), file)
