"""Parameters: what a file of the user sets. Reads and checks one field of a description; every error is one line."""

import json
import re
from dataclasses import dataclass

from .cpp_header import KEYWORDS

NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*\Z")
TYPES = ("u32", "u64", "double", "bool", "time", "period", "bytes", "text", "enumeration", "list")
NUMBERS = ("u32", "u64", "double", "time", "period", "bytes")
INTEGERS = ("u32", "u64")
SCALES = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
UNITS = {"ns": "ns", "us": "us", "ms": "ms", "s": "s", "GHz": "GHz", "MHz": "MHz", "GBps": "GB/s", "bytes": "B",
         "KiB": "KiB", "MiB": "MiB", "GiB": "GiB"}
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
OPTIONAL = ("member", "unit", "range", "values", "default", "default_text", "required", "same_on_all_gpus",
            "power_of_two", "multiple_of", "fractions", "bits", "enumeration", "of", "count", "pattern", "example",
            "source", "formerly", "section")


@dataclass
class Parameter:
    name: str  # its key in the file
    type: str
    member: str  # of the structure; empty: it has none, and other code reads the key
    unit: str
    least: object  # None: no limit
    most: object
    is_above: bool  # than `least`, not equal to it
    values: list  # all that it may be; empty: any in the range
    default: object  # in the file's unit; None: there is none
    default_text: str  # for people, in place of the default
    required: bool
    same_on_all_gpus: bool
    power_of_two: bool
    multiple_of: int  # 0: of nothing
    fractions: bool  # of a unit of bytes
    bits: int  # of a member of bytes
    enumeration: str  # C++ class
    of: str  # type of a list's elements
    count: tuple  # of a list's elements, (least, most)
    pattern: str  # of a text
    example: str
    text: str
    source: str
    formerly: str  # where files once had it, from the file's top
    section: str  # of the file, where it is not that of the description; else empty

    @property
    def scale(self):
        """Bytes of a unit."""
        return SCALES[self.name.rsplit("_", 1)[-1]]

    @property
    def is_fixed_list(self):
        return self.type == "list" and self.count[0] == self.count[1]


def suffix_of(name):
    return name.rsplit("_", 1)[-1]


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def read_limits(reader, item):
    """Of "range": [least, most], where a least of ">0" excludes it."""
    if "range" not in item:
        return None, None, False
    limits = item["range"]
    if not isinstance(limits, list) or len(limits) != 2:
        reader.fail(f"range {json.dumps(limits)} must be [least, most]")
    least, most = limits
    is_above = isinstance(least, str) and least.startswith(">")
    if is_above:
        try:
            least = json.loads(least[1:])
        except ValueError:
            reader.fail(f"range {json.dumps(limits)}: {json.dumps(limits[0])} must be a number behind >")
    if not is_number(least) or not is_number(most) or least > most:
        reader.fail(f"range {json.dumps(limits)} must be two numbers, the smaller one first")
    return least, most, is_above


def member_of(reader, item, kind):
    """That the description names, or the key without its unit."""
    if "member" in item:
        if item["member"] is None:
            return ""
        member = item["member"]
    elif kind == "bytes" and suffix_of(item["name"]) != "bytes":
        member = item["name"].rsplit("_", 1)[0] + "_bytes"
    elif kind == "time":
        member = item["name"].rsplit("_", 1)[0]
    else:
        member = item["name"]
    if not isinstance(member, str) or not NAME.match(member) or member in KEYWORDS:
        reader.fail(f"member {json.dumps(member)} must be a name that C++ can have")
    return member


def unit_of(reader, item):
    unit = item.get("unit", UNITS.get(suffix_of(item["name"]), ""))
    if not isinstance(unit, str):
        reader.fail("\"unit\" must be a text")
    return unit


def read_count(reader, item, kind):
    if kind != "list":
        if "count" in item or "of" in item:
            reader.fail("\"of\" and \"count\" are those of a list")
        return "", (0, 0)
    if item.get("of") not in ("u32", "double", "text"):
        reader.fail("is a list: \"of\" must be u32, double or text")
    count = item.get("count")
    least, most = count if isinstance(count, list) and len(count) == 2 else (count, count)
    if not isinstance(least, int) or not isinstance(most, int) or not 0 < least <= most:
        reader.fail("is a list: \"count\" must be a number, or [least, most]")
    return item["of"], (least, most)


def text_of(reader, item, key):
    if key not in item:
        return ""
    return reader.text({"text": item[key]})


def is_in_range(parameter, value):
    if parameter.least is not None and (value <= parameter.least if parameter.is_above else value < parameter.least):
        return False
    return parameter.most is None or value <= parameter.most


def fits(parameter, kind, value):
    """Whether a file may have this value; `kind` is the type of a list's element."""
    if kind == "bool":
        return isinstance(value, bool)
    if kind in ("text", "enumeration"):
        return isinstance(value, str) and (not parameter.values or value in parameter.values)
    is_whole = kind in INTEGERS or (kind == "bytes" and not parameter.fractions)
    if not is_number(value) or (is_whole and not isinstance(value, int)):
        return False
    if parameter.values:
        return value in parameter.values
    return is_in_range(parameter, value)


def is_valid(parameter, value):
    if parameter.type != "list":
        return fits(parameter, parameter.type, value)
    least, most = parameter.count
    return isinstance(value, list) and least <= len(value) <= most and all(
        fits(parameter, parameter.of, element) for element in value)


def check_default(reader, parameter):
    """A default that a file could not have needs words: default_text."""
    value = parameter.default
    if value is None:
        if parameter.member and not parameter.required and not parameter.default_text:
            reader.fail("may be left out, so it needs a \"default\"")
    elif not parameter.default_text and not is_valid(parameter, value):
        reader.fail(f"default {json.dumps(value)} is none that a file may have; \"default_text\" says what it means")
    if parameter.power_of_two and parameter.type not in INTEGERS:
        reader.fail("power_of_two is for whole numbers")
    if parameter.multiple_of and parameter.type not in INTEGERS:
        reader.fail("multiple_of is for whole numbers")


def check_type(reader, item):
    """That there is one, and that the name ends in a unit that it has."""
    kind, suffix = item["type"], suffix_of(item["name"])
    if kind not in TYPES:
        reader.fail(f"type {json.dumps(kind)} must be one of {', '.join(TYPES)}")
    if kind in NUMBERS and "range" not in item and "values" not in item:
        reader.fail("is a number and needs a \"range\" or \"values\"")
    if kind == "bytes" and suffix not in SCALES:
        reader.fail(f"is of type bytes, so its name must end in one of {', '.join('_' + s for s in SCALES)}")
    if kind == "time" and suffix not in NANOSECONDS:
        reader.fail(f"is a time, so its name must end in one of {', '.join('_' + s for s in NANOSECONDS)}")
    if kind == "period" and suffix != "GHz":
        reader.fail("is a clock's period, so its name must end in _GHz")
    return kind


def values_of(reader, item):
    values = item.get("values", [])
    if not isinstance(values, list) or not all(is_number(value) or isinstance(value, str) for value in values):
        reader.fail("\"values\" must be a list of numbers or texts")
    if len(set(values)) != len(values):
        reader.fail("\"values\" has one twice")
    if item["type"] == "enumeration" and ("enumeration" not in item or not values):
        reader.fail("is an enumeration: \"enumeration\" names its class, and \"values\" what it may be")
    return values


def bits_of(reader, item):
    bits = item.get("bits", 64)
    if bits not in (32, 64):
        reader.fail(f"bits {json.dumps(bits)} must be 32 or 64")
    return bits


def read_parameter(reader, item, also=()):
    """One field of a description; `also` are keys that the caller reads."""
    reader.place = f"field {item.get('name', '?')}" if isinstance(item, dict) else "fields"
    reader.keys(item, ("name", "type", "text"), (*OPTIONAL, *also))
    if not isinstance(item["name"], str) or not NAME.match(item["name"]):
        reader.fail(f"name {json.dumps(item['name'])} must be a key such as latency_ns")
    kind = check_type(reader, item)
    least, most, is_above = read_limits(reader, item)
    of, count = read_count(reader, item, kind)
    has_default = "default" in item or "default_text" in item
    parameter = Parameter(
        name=item["name"], type=kind, member=member_of(reader, item, kind), unit=unit_of(reader, item),
        least=least, most=most, is_above=is_above, values=values_of(reader, item), default=item.get("default"),
        default_text=text_of(reader, item, "default_text"),
        required=reader.flag(item.get("required", not has_default), "required"),
        same_on_all_gpus=reader.flag(item.get("same_on_all_gpus", False), "same_on_all_gpus"),
        power_of_two=reader.flag(item.get("power_of_two", False), "power_of_two"),
        multiple_of=reader.number(item.get("multiple_of", 0), "multiple_of"),
        fractions=reader.flag(item.get("fractions", False), "fractions"), bits=bits_of(reader, item),
        enumeration=item.get("enumeration", ""), of=of, count=count, pattern=item.get("pattern", ""),
        example=item.get("example", ""), text=reader.text(item), source=text_of(reader, item, "source"),
        formerly=item.get("formerly", ""), section=item.get("section", ""))
    check_default(reader, parameter)
    return parameter


def read_fields(reader, items, also=()):
    """A description's "fields"; their names differ."""
    if not isinstance(items, list) or not items:
        reader.fail("\"fields\" must be an array of one field or more")
    parameters = []
    for item in items:
        parameter = read_parameter(reader, item, also)
        for other in parameters:
            if (parameter.section, parameter.name) == (other.section, other.name):
                reader.fail("two fields have this name")
            if parameter.member and parameter.member == other.member:
                reader.fail(f"member {parameter.member} is that of {other.name}")
        parameters.append(parameter)
    reader.place = ""
    return parameters


def number_text(value):
    """1048576 as people read it, and 0.5."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


def listed(values):
    words = [value if isinstance(value, str) else number_text(value) for value in values]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def range_text(parameter):
    """What a file may have, for people."""
    p = parameter
    words = []
    if p.type == "list":
        words.append(f"list of {p.count[0]}" if p.is_fixed_list else f"list of {p.count[0]} to {p.count[1]}")
    if p.type == "bool":
        words.append("true or false")
    elif p.values:
        words.append(listed(p.values))
    elif p.is_above:
        words.append(f"above {number_text(p.least)}, at most {number_text(p.most)}")
    elif p.least is not None:
        words.append(f"{number_text(p.least)} to {number_text(p.most)}")
    elif p.example:
        words.append(f"such as {p.example}")
    if p.power_of_two:
        words.append("a power of two")
    if p.multiple_of:
        words.append(f"a multiple of {p.multiple_of}")
    return ", ".join(words)


def default_text(parameter):
    """What holds when a file leaves the key out, for people."""
    if parameter.required:
        return "required"
    if parameter.default_text:
        return parameter.default_text
    if parameter.default is None:
        return "none"
    return parameter.default if isinstance(parameter.default, str) else json.dumps(parameter.default)
