"""What docs list of a run file's keys and values is what the schemas have.

  documented_keys.py SOURCE_DIRECTORY
"""
import json
import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1])
WRONG = []


def page(name):
    return (SOURCE / "docs" / name).read_text(encoding="utf-8")


def schema(name):
    return json.loads((SOURCE / f"configs/schema/{name}.schema.json").read_text(encoding="utf-8"))


def row(text, begin):
    """The line of a table whose first column has this."""
    return next((line for line in text.splitlines() if line.startswith(f"| `{begin}`")), "")


def compare(what, found, expected):
    found, expected = set(found), set(expected)
    if found != expected:
        WRONG.append(f"{what}: missing {sorted(expected - found)}, unknown {sorted(found - expected)}")


def section(text, heading):
    """What follows a heading, up to the next one of its level."""
    level = heading.split()[0]
    begin = text.index(f"\n{heading}\n") + len(heading) + 2
    following = re.search(rf"^{level} ", text[begin:], re.MULTILINE)
    return text[begin:begin + following.start()] if following else text[begin:]


def first_column(text, begin, end):
    part = text[text.index(begin):]
    return re.findall(r"^\| `([^`]+)`", part[:part.index(end)], re.MULTILINE)


def main():
    running, topologies = page("guides/running.md"), page("guides/topologies.md")
    collectives, verification = page("models/fused-collectives.md"), page("guides/verification.md")
    run, system = schema("run")["properties"], schema("system")
    workload, workloads = run["workload"]["properties"], section(running, "## Workloads")
    compare("running.md, workload", [key for key in workload if f"`{key}`" in workloads], workload)
    fused = workload["fused"]["enum"]
    compare("running.md, fused", [value for value in fused if f"`{value}`" in workloads], fused)
    compare("fused-collectives.md, fused", first_column(collectives, "| `workload.fused` |", "\n\n")[1:], fused)
    compare("running.md, method", first_column(section(running, "## Methods"), "| Method |", "\n\n"), run["method"]["enum"])
    for key in ("mca_scope", "data", "operands", "simulate"):
        values = [value for value in run[key]["enum"] if f"`{value}`" in row(running, key)]
        compare(f"running.md, {key}", values, run[key]["enum"])
    limits = re.findall(r"^\| `limits\.(\w+)`", running, re.MULTILINE)
    compare("running.md, limits", limits, run["limits"]["properties"])
    nic = re.findall(r"^\| `nic\.(\w+)`", topologies, re.MULTILINE)
    compare("topologies.md, nic", nic, system["properties"]["nic"]["properties"])
    kinds = re.findall(r'^\| `(?:\{"kind": )?"([\w-]+)"', topologies, re.MULTILINE)
    compare("topologies.md, topology", kinds, system["definitions"]["topology"]["properties"]["kind"]["enum"])
    faults = re.findall(r'^\| `\{"(\w+)"', verification, re.MULTILINE)
    compare("verification.md, inject", faults, run["inject"]["properties"])
    if WRONG:
        sys.exit("\n".join(WRONG))


main()
