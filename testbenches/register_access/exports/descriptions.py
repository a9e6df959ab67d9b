"""The descriptions of the registers as tests read them: straight from JSON, without the generator under test."""

import json
import pathlib
from dataclasses import dataclass, field


def number(value):
    return int(value, 0) if isinstance(value, str) else value


@dataclass
class Field:
    msb: int
    lsb: int
    access: str
    values: dict


@dataclass
class Register:
    address: int  # of the first element, on GPU 0
    width: int
    access: str
    reset: int
    count: int
    stride: int
    is_array: bool
    fields: dict = field(default_factory=dict)


class Descriptions:
    def __init__(self, source):
        models = pathlib.Path(source, "models")
        self.device = json.loads((models / "gpu.json").read_text())
        base, size = (number(self.device[key]) for key in ("registers_base", "block_bytes"))
        self.bases = {block["name"]: base + size * block["window"] for block in self.device["blocks"]
                      if "spare" not in block}
        self.lines = {line["name"]: (line["number"], block["name"]) for block in self.device["blocks"]
                      for line in block.get("lines", [])}
        self.enumerations = {}
        for file in models.glob("*/*.enumeration.json"):
            item = json.loads(file.read_text())
            self.enumerations[item["enumeration"]] = {v["name"]: number(v["value"]) for v in item["values"]}
        self.registers = {}  # by block and name
        for file in models.glob("*/*.registers.json"):
            item = json.loads(file.read_text())
            for register in item["registers"]:
                self.registers[(item["block"], register["name"])] = self.read(item["block"], register)

    def read(self, block, item):
        register = Register(self.bases[block] + number(item["offset"]), item["width"], item["access"],
                            number(item.get("reset", 0)), item.get("count", 1), item.get("stride", 0), "count" in item)
        for f in item.get("fields", []):
            bits = f["bits"] if "bits" in f else [max(n for n, _ in self.lines.values()), 0]
            values = {name: number(v) for name, v in f.get("values", {}).items()}
            if "enumeration" in f:
                values = self.enumerations[f["enumeration"]]
            register.fields[f["name"]] = Field(bits[0], bits[1], f.get("access", item["access"]), values)
        return register
