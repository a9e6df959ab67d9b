"""Exceptions: violations with a known cause, each a predicate as narrow as its cause allows.

Those that are accepted are physics. An open one is a fault of the platform that is known and not yet mended.
"""
import json
import pathlib

from random_runs import kind_of
from tiles import Chunks

FILE = pathlib.Path(__file__).with_name("accepted_exceptions.json")
KEYS = {"name", "status", "laws", "where", "at_most", "cause"}
STATUS = ("accepted", "open")
FACTS = ("changes", "path", "workload", "method", "op", "algorithm", "fused", "topology", "system", "gpus", "tile",
         "chunks")


def facts_of(run, change, first, second):
    """What a predicate can ask for of a pair."""
    collective = run["workload"].get("collective", {})
    tiles = [tile_of(report) for report in (first, second)]
    return {
        "changes": change["kind"],
        "path": change.get("path"),
        "workload": kind_of(run),
        "method": run["method"],
        "op": collective.get("op"),
        "algorithm": collective.get("algorithm"),
        "fused": run["workload"].get("fused"),
        "topology": run["system.links.topology"]["kind"],
        "system": run["system"].split("/")[-1].removesuffix(".json"),
        "gpus": run["gpus"],
        "tile": "same" if tiles[0] == tiles[1] else "changed",
        "chunks": chunks_of(run, first),
    }


def chunks_of(run, report):
    if kind_of(run) != "gemm":
        return None
    return "alike" if Chunks.of(run, report).are_alike else "of unlike shapes"


def tile_of(report):
    workload = report["workload"]
    return next((workload[key]["tile"] for key in ("gemm", "experts") if "tile" in workload.get(key, {})), None)


def read(file=FILE):
    exceptions = json.loads(file.read_text())["exceptions"]
    for entry in exceptions:
        if entry.keys() != KEYS or entry["status"] not in STATUS or not set(entry["where"]) <= set(FACTS):
            raise ValueError(f"{file}: {entry.get('name')}: expected the keys {sorted(KEYS)}, a status of {STATUS}, "
                             f"and in where some of {FACTS}")
    return exceptions


def accepting(exceptions, violation, facts):
    """The name of the first exception that covers a violation, or None."""
    for entry in exceptions:
        asked = {key: value if isinstance(value, list) else [value] for key, value in entry["where"].items()}
        if (violation.law in entry["laws"] and violation.excess <= entry["at_most"]
                and all(facts[key] in values for key, values in asked.items())):
            return entry["name"]
    return None
