"""Compares docs/reference/errors.md with the descriptions of codes and with the messages in the sources.

  errors_page.py SOURCE_DIRECTORY

The page has every code with its number, every message of the page is in the sources, and every kind of line about a GPU
in a diagnosis, every limit and every warning is on the page.
"""

import json
import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1])
PAGE = (SOURCE / "docs/reference/errors.md").read_text(encoding="utf-8")
FAULTS = []


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL).group(1)


def rows(title):
    """First cells, codes as "T3_OK (0)"."""
    cells = re.findall(r"^\| `(.+?)`( \(\d+\))? \|", section(title), re.MULTILINE)
    return {name + number for name, number in cells}


def compare(title, found, expected):
    FAULTS.extend(f"{title}: {name} is not on the page, or has another number" for name in sorted(expected - found))
    FAULTS.extend(f"{title}: {name} is on the page only" for name in sorted(found - expected))


def enumeration(path):
    return {f"{value['name']} ({value['value']})" for value in json.loads((SOURCE / path).read_text())["values"]}


def states():
    registers = json.loads((SOURCE / "models/nic/nic.registers.json").read_text())["registers"]
    state = next(register for register in registers if register["name"] == "state")
    return {f"{name} ({number})" for name, number in state["fields"][0]["values"].items()}


def compare_codes():
    status = {"T3_" + name.upper() for name in enumeration("models/protocol/status.enumeration.json")}
    compare("Driver status codes", rows("Driver status codes"), status)
    compare("NIC syndromes", rows("NIC syndromes"), enumeration("models/nic/nic_syndrome.enumeration.json"))
    compare("Causes of an error state", rows("Causes of an error state"),
            enumeration("models/nic/nic_cause.enumeration.json"))
    compare("States of a queue pair", rows("States of a queue pair"), states())


def sources():
    """The program's text, the literals of one text joined."""
    files = [file for folder in ("platform", "models") for pattern in ("*.cpp", "*.h")
             for file in sorted((SOURCE / folder).rglob(pattern)) if "tests" not in file.parts]
    return re.sub(r'"\s*\n\s*"', "", "\n".join(file.read_text(encoding="utf-8") for file in files))


def compare_messages(text):
    titles = ("Bad input", "Failed runs", "Register scripts", "Limits", "Crashes", "The machine")
    messages = set().union(*(rows(title) for title in titles))
    for message in sorted(messages):
        for part in re.split(r"…|\bfound\b|\bexpected\b", message):
            words = part.strip(" :,;")
            if words not in text:
                FAULTS.append(f"{message}: {words!r} is in no source")
    kinds = set(re.findall(r'"GPU \{\} ((?:firmware [a-z]+|error log|compute units|[A-Za-z]+:)(?=[ :]))', text))
    for kind in sorted(kinds):
        if not any(message.startswith(f"GPU … {kind}") for message in messages):
            FAULTS.append(f"GPU … {kind}: no message of the page begins so")


def compare_keys():
    warnings = (SOURCE / "platform/report/warnings.cpp").read_text(encoding="utf-8")
    limits = json.loads((SOURCE / "configs/schema/run.schema.json").read_text())["properties"]["limits"]["properties"]
    FAULTS.extend(f"limits.{name} is not on the page" for name in limits if f"limits.{name}" not in PAGE)
    known = {re.sub(r"^.*\.dram\.", "dram.", metric) for metric in rows("Warnings")}
    warned = set(re.findall(r'list\.push_back\(\{"([\w.]+)"', warnings)) | {"dram.aged"}
    compare("Warnings", known, warned)


compare_codes()
compare_messages(sources())
compare_keys()
if FAULTS:
    sys.exit("docs/reference/errors.md:\n" + "\n".join(FAULTS))
