"""Operations of the collective workload. Reads and checks <name>/<name>.operation.json; every error is one line: file,
place, what is wrong."""

import json
import pathlib
import re
from dataclasses import dataclass

from .cpp_header import KEYWORDS
from .description import Reader

WORDS = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")
# In the order of the kernel's numbers. The last one is several kernels and has none.
ALGORITHMS = ("ring", "direct", "hierarchical", "in-network", "torus-rings")
RESULTS = ("in-place", "apart", "parts")
STAGING = ("none", "sums", "own")


@dataclass
class Operation:
    name: str
    number: int  # of its enumerator
    text: str
    algorithms: list  # of those with equal estimates auto takes the first
    adds: bool
    root: bool  # GPU 0 has a role of its own
    result: str
    staging: str
    parts: list  # names of the two operations that it is, one after the other; empty: it is one kernel
    whole_by: list  # algorithms by which it is one kernel nevertheless
    second_counters: list  # algorithms whose steps wait for these, beside hierarchical
    folder: pathlib.Path

    @property
    def c_name(self):
        return self.name.replace("-", "_")

    @property
    def layout(self):
        return self.folder / f"{self.c_name}_layout.h"

    def constant(self, project):
        return f"{project}_{self.c_name}".upper()


class OperationReader(Reader):
    def chosen(self, item, key, allowed):
        value = item.get(key, [])
        words = isinstance(value, list) and all(word in allowed for word in value)
        if not words or len(set(value)) != len(value):
            self.fail(f"\"{key}\" must be some of {', '.join(allowed)}, each once")
        return value

    def word(self, item, key, allowed):
        value = item.get(key, allowed[0])
        if value not in allowed:
            self.fail(f"\"{key}\" must be one of {', '.join(allowed)}")
        return value

    def operation(self, item):
        self.keys(item, ("operation", "number", "text", "algorithms"),
                  ("adds", "root", "result", "staging", "parts", "whole_by", "second_counters"))
        name = item["operation"]
        if not isinstance(name, str) or not WORDS.match(name) or name.replace("-", "_") in KEYWORDS:
            self.fail(f"operation {json.dumps(name)} must be of lower-case words joined by -")
        number = item["number"]
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            self.fail(f"number {json.dumps(number)} must be a whole number from 0 on")
        algorithms = self.chosen(item, "algorithms", ALGORITHMS)
        if not algorithms:
            self.fail("has no algorithm")
        parts = item.get("parts", [])
        if not isinstance(parts, list) or len(parts) not in (0, 2):
            self.fail("\"parts\" must be the names of two operations")
        return Operation(name, number, self.text(item), algorithms, self.flag(item.get("adds", False), "adds"),
                         self.flag(item.get("root", False), "root"), self.word(item, "result", RESULTS),
                         self.word(item, "staging", STAGING), parts, self.chosen(item, "whole_by", ALGORITHMS),
                         self.chosen(item, "second_counters", ALGORITHMS), pathlib.Path(self.file).parent)


def read_operation(file):
    reader = OperationReader(file)
    operation = reader.operation(reader.load())
    c_name = operation.c_name
    if not re.search(rf"(^|/){c_name}/{c_name}\.operation\.json\Z", str(file)):
        reader.fail(f"describes operation {operation.name} and so must be {c_name}/{c_name}.operation.json")
    if operation.layout.exists() != (operation.staging == "own"):
        reader.fail(f"\"staging\" must be \"own\" where there is {operation.layout.name}, and nowhere else")
    if operation.whole_by and not operation.parts:
        reader.fail("\"whole_by\" stands beside \"parts\" alone")
    return reader, operation


def check_parts(reader, operation, by_name):
    for part in operation.parts:
        if part not in by_name:
            reader.fail(f"part {json.dumps(part)} must be one of {', '.join(by_name)}")
        other = by_name[part]
        if other.parts:
            reader.fail(f"part {part} must be one kernel, not parts itself")
        missing = [a for a in operation.algorithms if a not in operation.whole_by and a not in other.algorithms]
        if missing:
            reader.fail(f"part {part} does not go by {', '.join(missing)}")


def read_operations(files):
    """In the order of their numbers, which are 0 and those that follow."""
    read = sorted((read_operation(file) for file in files), key=lambda pair: pair[1].number)
    by_name = {operation.name: operation for _, operation in read}
    for expected, (reader, operation) in enumerate(read):
        if operation.number < expected:
            reader.fail(f"number {operation.number} is {read[expected - 1][1].name}'s; {len(read) - 1} follows the others")
        if operation.number > expected:
            reader.fail(f"number {operation.number} must be {expected}, which follows the others")
        check_parts(reader, operation, by_name)
    return [operation for _, operation in read]
