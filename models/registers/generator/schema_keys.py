"""Keys that a checked-in JSON Schema describes, such as those of a run file. A default is "default", or what follows
"Default: " at the end of the description; "unit" is an annotation of ours. Of a skeleton (schema.py) it is the keys that
no description of parameters has."""

import json
from dataclasses import dataclass
from pathlib import Path

from .description import DescriptionError, Reader
from .parameter import UNITS, listed, number_text

# What stands before a file's keys: --set takes those of a run file as they are.
PREFIXES = {"run": "", "experiment": "experiment.", "models": "models.", "system": "system."}
SUFFIXES = (".schema.json", ".skeleton.json")
DEFAULT = " Default: "


@dataclass
class SchemaKey:
    file: str  # kind of the user's file
    section: str  # keys from the file's top, with dots; empty: the top
    name: str
    unit: str
    range: str
    default: str  # for people
    text: str

    @property
    def path(self):
        return PREFIXES[self.file] + ".".join(part for part in (self.section, self.name) if part)


def number_range(node):
    if "exclusiveMinimum" in node:
        return f"above {number_text(node['exclusiveMinimum'])}" + (
            f", at most {number_text(node['maximum'])}" if "maximum" in node else "")
    if "minimum" in node and "maximum" in node:
        return f"{number_text(node['minimum'])} to {number_text(node['maximum'])}"
    return f"at least {number_text(node['minimum'])}" if "minimum" in node else "number"


def list_range(node, items):
    if "enum" in items:
        return f"list of {', '.join(items['enum'])}"
    return f"list of at most {node['maxItems']}" if "maxItems" in node else "list"


def word_of(kind, node, items):
    if kind in ("integer", "number"):
        return number_range(node)
    if kind == "string":
        return f"such as {node['examples'][0]}" if "examples" in node else "text"
    return {"boolean": "true or false", "object": "object"}.get(kind) or list_range(node, items)


class Walk:
    """Collects the keys of one schema, each behind the object that has it."""

    def __init__(self, file):
        self.file = str(file)
        self.root = Reader(self.file).load()
        self.kind = Path(file).name.removesuffix(SUFFIXES[0]).removesuffix(SUFFIXES[1])
        self.is_skeleton = Path(file).name.endswith(SUFFIXES[1])
        self.keys = []
        if self.kind not in PREFIXES:
            raise DescriptionError(f"{self.file}: must be a schema or skeleton of one of {', '.join(PREFIXES)}")

    def resolved(self, node):
        """With what it refers to; its own keys come first."""
        if "$ref" not in node:
            return node
        target = self.root
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return {**target, **node}

    def range_text(self, node):
        if "enum" in node:
            return listed(node["enum"])
        kinds = node.get("type", "object")
        items = self.resolved(node.get("items", {}))
        return " or ".join(word_of(kind, node, items) for kind in (kinds if isinstance(kinds, list) else [kinds]))

    def key(self, section, name, node, is_required):
        if "description" not in node:
            raise DescriptionError(f"{self.file}: {section}{'.' if section else ''}{name}: a \"description\" is missing")
        text, _, words = (" " + node["description"]).partition(DEFAULT)
        value = node.get("default")
        default = words.removesuffix(".") if value is None else value if isinstance(value, str) else json.dumps(value)
        unit = node.get("unit", UNITS.get(name.rpartition("_")[2], "") if "_" in name or name == "bytes" else "")
        return SchemaKey(self.kind, section, name, unit, self.range_text(node),
                         "required" if is_required else default or "none", text.strip())

    def is_elsewhere(self, name, node):
        """Descriptions of parameters have the key, or the skeleton has it at the place that it refers to."""
        refers = "$ref" in node and "description" not in node
        return self.is_skeleton and ("$described" in node or refers or name.startswith("$"))

    def below(self, section, node):
        for name, its in node.get("properties", {}).items():
            if not self.is_elsewhere(name, its):
                self.keys.append(self.key(section, name, self.resolved(its), name in node.get("required", [])))
            if self.is_skeleton and "$ref" in its:
                continue
            its = self.resolved(its)
            path = f"{section}.{name}" if section else name
            self.below(path, its)
        if isinstance(node.get("additionalProperties"), dict):
            self.below(f"{section}.NAME" if section else "NAME", self.resolved(node["additionalProperties"]))
        if "items" in node:
            self.below(f"{section}[]", self.resolved(node["items"]))


def keys_of_schema(file):
    walk = Walk(file)
    walk.below("", walk.root)
    return walk.keys
