"""A configuration with all times twice as long.

Keys are scaled by the unit in their name, as --print-config gives them, so that a new key takes part by itself. Time is
whole picoseconds: the base has rates whose intervals are whole picoseconds at both scales.
"""
import math

FACTOR, TOLERANCE = 2, 1e-4
TIMES, RATES = ("_ns", "_ps", "_us", "_ms"), ("GHz", "MHz", "GBps", "_per_us", "_W")


def in_whole_picoseconds(configuration):
    return changed(configuration, whole)


def slower(configuration):
    return changed(configuration, twice)


def changed(value, change, key=""):
    """All numbers, by `change(key, number)`."""
    if isinstance(value, dict):
        return {name: changed(child, change, name) for name, child in value.items()}
    if isinstance(value, list):
        return [changed(child, change, key) for child in value]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return change(key, value) if is_number else value


def whole(key, value):
    """Intervals that the rates have are whole picoseconds: a clock's period, 8 bytes, a message, any power of two."""
    for end, interval in (("GHz", 1000), ("GBps", 8000), ("_per_us", 1e6)):
        if key.endswith(end):
            return interval / round(interval / value)
    is_share_of_cycle = key.endswith(("_per_cycle", "_efficiency"))
    return 2 ** math.floor(math.log2(value)) if is_share_of_cycle and value > 0 else value


def twice(key, value):
    if key.endswith(RATES):
        return value / FACTOR
    return value * FACTOR if key.endswith(TIMES) else value
