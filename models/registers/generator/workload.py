"""Workloads: what a run file says of what it computes, and what programs are given of it. Reads and checks the rooms'
descriptions (platform/workloads/<name>/<name>.arguments.json); every error is one line: file, place, what is wrong."""

import json
import re
from dataclasses import dataclass

from .cpp_header import KEYWORDS
from .description import DescriptionError, Reader

ARGUMENT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*\Z")
METHOD_NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*\Z")
C_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
BYTES = {"u32": 4, "u64": 8, "bool": 1, "f64": 8, "tile": 8}
ELEMENT = {"fp16": "T3_FP16", "bf16": "T3_BF16", "fp32": "T3_FP32"}


@dataclass
class Enumeration:
    name: str
    include: str  # the header that has it; empty: it is generated
    values: dict  # the run file's word -> the enumerator
    is_operations: bool  # the collective operations that there are, which have folders


@dataclass
class Argument:
    name: str  # of the member
    key: str  # in the run file
    type: str  # u32, u64, bool, f64, tile, text, words, or the name of an enumeration
    count: int  # of an array's elements; 0: it is none
    unit: str
    range: tuple  # (least, most); None: there is none
    words: list  # of a bool: of false and of true; of words: all
    default: object  # None: there is none
    default_text: str  # for people, in place of the default
    text: str
    is_derived: bool  # the platform computes it: it is no key of the run file
    is_firmware: bool  # it is a member of the structure that programs read
    schema: dict  # of the run file in place of the one that follows from the type; hand-written code reads it
    formerly: dict  # a word that run files once had -> the word for it

    @property
    def is_required(self):
        return not self.is_derived and self.default is None and not self.default_text

    @property
    def bytes(self):
        return BYTES.get(self.type, 4) * max(self.count, 1)


@dataclass
class Structure:
    name: str
    key: str  # below `workload` in the run file; empty: the run file says nothing of it
    program: str  # that runs where the run file has the section; empty: the method's
    text: str
    has_tail: bool  # more bytes follow it
    arguments: list

    @property
    def members(self):
        return [a for a in self.arguments if a.is_firmware]

    @property
    def keys(self):
        return [a for a in self.arguments if not a.is_derived]

    @property
    def settings(self):
        """What the platform reads beside the members."""
        return [a for a in self.keys if not a.is_firmware and not a.schema]

    @property
    def bytes(self):
        return sum(a.bytes for a in self.members)


@dataclass
class Method:
    name: str
    program: str
    text: str


@dataclass
class Workload:
    name: str
    text: str
    builds_on: list
    given_by: str  # the key that says that a run file's workload is this one; empty: any without one
    methods: list
    enumerations: list
    structures: list
    keys: list  # directly below `workload`
    uses: list  # keys of workloads that it builds on
    needs: dict  # schema of the whole `workload`
    file: str  # without its folder

    @property
    def firmware_structures(self):
        return [s for s in self.structures if s.members]

    @property
    def bytes(self):
        return sum(s.bytes for s in self.structures)

    @property
    def has_tail(self):
        return any(s.has_tail for s in self.structures)

    @property
    def programs(self):
        return {m.program for m in self.methods} | {s.program for s in self.structures if s.program}

    @property
    def own_keys(self):
        return [s.key for s in self.structures if s.key] + [k.key for k in self.keys]


class WorkloadReader(Reader):
    def __init__(self, file, operations):
        super().__init__(file)
        self.operations = operations
        self.enumerations = {"element": ELEMENT}  # values by name, of this room and what every room has

    def argument_name(self, value, what):
        if not isinstance(value, str) or not ARGUMENT_NAME.match(value) or value in KEYWORDS:
            self.fail(f"{what} {json.dumps(value)} must be a name that C and C++ can have")
        return value

    def method_name(self, value, what):
        if not isinstance(value, str) or not METHOD_NAME.match(value):
            self.fail(f"{what} {json.dumps(value)} must be of lower-case words joined by - or _")
        return value

    def array(self, item, key):
        value = item.get(key, [])
        if not isinstance(value, list):
            self.fail(f"\"{key}\" must be an array")
        return value

    def distinct(self, names, what):
        for name in names:
            if names.count(name) > 1:
                self.fail(f"two {what} are named {name}")

    def enumeration(self, item):
        self.keys(item, ("enumeration", "values"), ("include",))
        name = self.name(item["enumeration"], "enumeration")
        self.place = f"enumeration {name}"
        values = item["values"]
        is_operations = values == "operations"
        if is_operations:
            values = {o.name: o.constant("t3") for o in self.operations}
        if not isinstance(values, dict) or not values or not all(isinstance(c, str) and C_NAME.match(c)
                                                                  for c in values.values()):
            self.fail("\"values\" must be an object of words and C's enumerators, or \"operations\"")
        if name in self.enumerations:
            self.fail("is already described")
        self.enumerations[name] = values
        return Enumeration(name, item.get("include", ""), values, is_operations)

    def type_of(self, item, allowed):
        text = item["type"]
        match = re.fullmatch(r"([a-z][a-z0-9_]*)(?:\[([1-9][0-9]?)\])?", text) if isinstance(text, str) else None
        known = [*allowed, *self.enumerations]
        if not match or match.group(1) not in known:
            self.fail(f"type {json.dumps(text)} must be one of {', '.join(known)}, or u32[n] or u64[n]")
        if match.group(2) and match.group(1) not in ("u32", "u64"):
            self.fail(f"type {json.dumps(text)}: arrays are of u32 or u64")
        return match.group(1), int(match.group(2) or 0)

    def range_of(self, item, kind):
        if "range" not in item:
            return None
        limits = item["range"]
        numbers = isinstance(limits, list) and len(limits) == 2 and all(
            isinstance(n, (int, float)) and not isinstance(n, bool) for n in limits)
        if not numbers or limits[0] > limits[1]:
            self.fail(f"range {json.dumps(limits)} must be [least, most]")
        if kind not in ("u32", "u64", "f64"):
            self.fail(f"is of type {kind} and has no range")
        if kind != "f64" and (not all(isinstance(n, int) for n in limits) or limits[0] < 0 or
                              limits[1] >> 8 * BYTES[kind]):
            self.fail(f"range {json.dumps(limits)} does not fit in {kind}")
        return tuple(limits)

    def words_of(self, item, kind):
        words = item.get("words" if kind == "bool" else "values", [])
        if not isinstance(words, list) or not all(isinstance(w, str) and w for w in words):
            self.fail("words must be an array of texts")
        if kind == "bool" and words and len(words) != 2:
            self.fail("\"words\" must be those of false and of true")
        if kind in self.enumerations and not set(words) <= set(self.enumerations[kind]):
            self.fail(f"\"values\" must be some of {', '.join(self.enumerations[kind])}")
        if kind in self.enumerations and not words:
            words = list(self.enumerations[kind])
        if kind == "words" and not words and "schema" not in item:
            self.fail("\"values\" must have all words")
        return words

    def former_words(self, item):
        words = item.get("formerly", {})
        if not isinstance(words, dict) or not all(isinstance(w, str) for w in words.values()):
            self.fail("\"formerly\" must be an object of old words and new ones")
        return words

    def require_default(self, argument):
        """A default is what a run file may say."""
        value, kind = argument.default, argument.type
        if argument.words:
            right = value in argument.words
        elif kind == "bool":
            right = isinstance(value, bool)
        elif kind in ("u32", "u64", "f64"):
            right = isinstance(value, int if kind != "f64" else (int, float)) and not isinstance(value, bool)
            if right and argument.range and not argument.range[0] <= value <= argument.range[1]:
                right = False
        else:
            right = False
        if not right:
            self.fail(f"default {json.dumps(value)} is nothing that a run file may say")

    def argument(self, item, allowed):
        self.place = f"argument {item.get('name', '?')}" if isinstance(item, dict) else "arguments"
        self.keys(item, ("name", "type", "text"), ("key", "unit", "range", "words", "values", "default", "default_text",
                                                   "derived", "firmware", "schema", "source", "formerly"))
        name = self.argument_name(item["name"], "argument")
        kind, count = self.type_of(item, allowed)
        argument = Argument(name, item.get("key", name), kind, count, item.get("unit", ""), self.range_of(item, kind),
                            self.words_of(item, kind), item.get("default"), item.get("default_text", ""),
                            self.text(item), self.flag(item.get("derived", False), "derived"),
                            self.flag(item.get("firmware", True), "firmware"), item.get("schema", {}),
                            self.former_words(item))
        if argument.is_derived and (argument.default is not None or argument.default_text or argument.schema):
            self.fail("is derived: a run file says nothing of it, so it has no default")
        if argument.is_derived and not argument.is_firmware:
            self.fail("is derived and no firmware's: nobody would have it")
        if not argument.is_derived and not argument.schema:
            if kind in ("u32", "u64", "f64") and argument.range is None:
                self.fail("a number that a run file says has a \"range\"")
            if count:
                self.fail("an array that a run file says has a \"schema\"")
        if not set(argument.formerly.values()) <= set(argument.words):
            self.fail("\"formerly\" must give words that a run file may say")
        if argument.default is not None:
            self.require_default(argument)
        return argument

    def structure(self, item):
        self.place = f"structure {item.get('structure', '?')}" if isinstance(item, dict) else "structures"
        self.keys(item, ("structure", "text", "arguments"), ("key", "program", "tail"))
        name = self.name(item["structure"], "structure")
        key = self.name(item["key"], "key") if "key" in item else ""
        text = self.text(item)
        tail = self.flag(item.get("tail", False), "tail")
        arguments = [self.argument(a, BYTES) for a in self.array(item, "arguments")]
        self.place = f"structure {name}"
        if not arguments:
            self.fail("has no argument")
        self.distinct([a.name for a in arguments], "arguments")
        self.distinct([a.key for a in arguments if not a.is_derived], "keys")
        if not key and any(not a.is_derived for a in arguments):
            self.fail("has no key, so all of its arguments are derived")
        return Structure(name, key, item.get("program", ""), text, tail, arguments)

    def method(self, item):
        self.place = "methods"
        self.keys(item, ("name", "program", "text"))
        return Method(self.method_name(item["name"], "method"), self.method_name(item["program"], "program"),
                      self.text(item))


def read_workload(file, operations):
    reader = WorkloadReader(file, operations)
    item = reader.load()
    reader.keys(item, ("workload", "text", "methods", "structures"),
                ("builds_on", "given_by", "enumerations", "keys", "uses", "needs"))
    name = reader.name(item["workload"], "workload")
    if not re.search(rf"(^|/){name}/{name}\.arguments\.json\Z", str(file)):
        reader.fail(f"describes workload {name} and so must be {name}/{name}.arguments.json")
    text = reader.text(item)
    methods = [reader.method(m) for m in reader.array(item, "methods")]
    if not methods:
        reader.fail("has no method")
    reader.distinct([m.name for m in methods], "methods")
    enumerations = [reader.enumeration(e) for e in reader.array(item, "enumerations")]
    structures = [reader.structure(s) for s in reader.array(item, "structures")]
    keys = [reader.argument(k, (*BYTES, "text", "words")) for k in reader.array(item, "keys")]
    reader.place = ""
    workload = Workload(name, text, reader.array(item, "builds_on"), item.get("given_by", ""), methods, enumerations,
                        structures, keys, reader.array(item, "uses"), item.get("needs", {}), str(file).rsplit("/", 1)[-1])
    reader.distinct([s.name for s in structures], "structures")
    reader.distinct(workload.own_keys, "keys")
    if workload.given_by and workload.given_by not in workload.own_keys:
        reader.fail(f"given_by {json.dumps(workload.given_by)} must be one of its keys")
    if any(s.has_tail for s in workload.firmware_structures[:-1]):
        reader.fail("only the last structure of firmware may have a tail")
    return workload


def require_no_circle(workloads, file_of):
    by_name = {w.name: w for w in workloads}

    def visit(workload, way):
        for below in workload.builds_on:
            if below not in by_name:
                raise DescriptionError(f"{file_of[workload.name]}: builds_on {json.dumps(below)}, which there is not")
            if below in way:
                raise DescriptionError(f"{file_of[workload.name]}: builds on itself by {' -> '.join((*way, below))}")
            visit(by_name[below], (*way, below))

    for workload in workloads:
        visit(workload, (workload.name,))


def read_workloads(files, operations=()):
    """In the order of their names."""
    workloads, file_of = [], {}
    for file in files:
        workload = read_workload(file, operations)
        if workload.name in file_of:
            raise DescriptionError(f"{file}: {workload.name} is already described")
        file_of[workload.name] = file
        workloads.append(workload)
    workloads.sort(key=lambda w: w.name)
    require_no_circle(workloads, file_of)

    def require_distinct(names_of, what):
        seen = {}
        for workload in workloads:
            for name in names_of(workload):
                if name in seen:
                    raise DescriptionError(f"{file_of[workload.name]}: {what} {name} is already {seen[name]}'s")
                seen[name] = workload.name
        return seen

    require_distinct(lambda w: [s.name for s in w.structures], "structure")
    require_distinct(lambda w: [e.name for e in w.enumerations], "enumeration")
    require_distinct(lambda w: w.programs, "program")
    owners = require_distinct(lambda w: w.own_keys, "key")
    for workload in workloads:
        for key in workload.uses:
            if owners.get(key) not in workload.builds_on:
                raise DescriptionError(f"{file_of[workload.name]}: uses {json.dumps(key)}: a key of a workload that it "
                                       "builds on expected")
    others = [w.name for w in workloads if not w.given_by]
    if len(others) > 1:
        raise DescriptionError(f"{file_of[others[1]]}: given_by is missing, as in {others[0]}: one at most may do without")
    return workloads
