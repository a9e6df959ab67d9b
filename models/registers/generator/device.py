"""The description of a device: constants of its address map, register blocks in their windows, interrupt lines."""

import json
import re
from dataclasses import dataclass

from .description import DescriptionError, Enumeration, Reader, require_distinct

LINES_MAX = 32  # bits of a register with a bit for each line
PORT = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\Z")


@dataclass
class Device:
    name: str
    text: str
    namespace: str
    constants: list  # of (name, value, text)
    windows: dict  # number by name of a block
    spares: dict  # text by name of a window without a block of its own
    registers_base: int
    block_bytes: int
    lines: list  # of (name, number, text)
    sources: dict  # (block, port that drives it, None of a spare window) by name of a line
    file: str

    def base(self, block):
        return self.registers_base + self.windows[block] * self.block_bytes

    def enumerations(self, blocks):
        """Block and line as enumerations, with `count` behind the last value."""
        first_sentence = {block.name: block.text.split(". ")[0].rstrip(".") for block in blocks}
        texts = {**self.spares, **first_sentence}
        windows = sorted(((name, number, texts.get(name, name)) for name, number in self.windows.items()),
                         key=lambda value: value[1])
        return (Enumeration("block", "Block", 64, "block", "Register blocks, by their windows.", windows),
                Enumeration("line", "Line", 32, "line", "Interrupt lines, and what raises them.", self.lines))

    def in_order(self, blocks):
        """The blocks by window; the list and the descriptions must name the same ones, but for spare windows."""
        described = {block.name: block for block in blocks}
        for block in blocks:
            if block.name not in self.windows:
                raise DescriptionError(f"{block.file}: block {block.name} is missing from {self.file}")
        for name in self.windows:
            if (name in described) == (name in self.spares):
                has = "is spare and has a" if name in described else "has no"
                raise DescriptionError(f"{self.file}: block {name} {has} {name}.registers.json")
        return [described[name] for name in sorted(self.windows, key=self.windows.get) if name in described]


def read_lines(reader, block, item):
    lines = []
    for entry in item.get("lines", []):
        reader.place = f"block {block}, lines"
        if "spare" in item:
            reader.keys(entry, ("name", "number", "text"))
            entry = {**entry, "port": None}
        else:
            reader.keys(entry, ("name", "number", "port", "text"))
            if not isinstance(entry["port"], str) or not PORT.match(entry["port"]):
                reader.fail(f"port {json.dumps(entry['port'])} must be a path such as \"dma.interrupt\"")
        line = (reader.name(entry["name"], "line"), reader.number(entry["number"], "number"), reader.text(entry))
        lines.append((line, entry["port"]))
    return lines


def require_gapless(reader, values, what):
    """Numbers index arrays on both sides."""
    require_distinct(reader, values)
    numbers = sorted(number for _, number, *_ in values)
    if numbers != list(range(len(numbers))):
        missing = next(i for i, number in enumerate(numbers) if i != number)
        reader.fail(f"no {what} has number {missing}, expected 0 to {len(numbers) - 1}, each of them once")


def read_device(file):
    reader = Reader(file)
    item = reader.load()
    reader.keys(item, ("text", "namespace", "registers_base", "block_bytes", "constants", "blocks"))
    constants = []
    for entry in item["constants"]:
        reader.keys(entry, ("name", "value", "text"))
        constants.append((reader.name(entry["name"], "constant"), reader.number(entry["value"], "value"),
                          reader.text(entry)))
    windows, lines, sources, spares = [], [], {}, {}
    for entry in item["blocks"]:
        reader.place = f"block {entry.get('name', '?')}" if isinstance(entry, dict) else "blocks"
        reader.keys(entry, ("name", "window"), ("lines", "spare"))
        name = reader.name(entry["name"], "block")
        if "spare" in entry:
            spares[name] = reader.text({"text": entry["spare"]})
        windows.append((name, reader.number(entry["window"], "window")))
        for line, port in read_lines(reader, name, entry):
            lines.append(line)
            sources[line[0]] = (name, port)
    reader.place = "windows"
    require_gapless(reader, windows, "window")
    reader.place = "lines"
    require_gapless(reader, lines, "line")
    if len(lines) > LINES_MAX:
        reader.fail(f"{len(lines)} lines, expected at most {LINES_MAX}")
    reader.place = ""
    stem = str(file).rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return Device(stem, reader.text(item), reader.name(item["namespace"], "namespace"), constants, dict(windows),
                  spares, reader.number(item["registers_base"], "registers_base"),
                  reader.number(item["block_bytes"], "block_bytes"), sorted(lines, key=lambda line: line[1]), sources,
                  str(file))
