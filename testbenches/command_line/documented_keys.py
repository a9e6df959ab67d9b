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
    return json.loads((SOURCE / f"configs/schema/{name}.schema.json").read_text(encoding="utf-8"))["properties"]


def row(text, begin):
    """The line of a table whose first column has this."""
    return next((line for line in text.splitlines() if line.startswith(f"| `{begin}`")), "")


def compare(what, found, expected):
    found, expected = set(found), set(expected)
    if found != expected:
        WRONG.append(f"{what}: missing {sorted(expected - found)}, unknown {sorted(found - expected)}")


def keys_of(text, name):
    """Those in {"name": {"key", ...}}."""
    match = re.search(r'\{"' + name + r'": \{([^{}]*)\}\}', text)
    return re.findall(r'"(\w+)"', match.group(1)) if match else []


def first_column(text, begin, end):
    part = text[text.index(begin):]
    return re.findall(r"^\| `([^`]+)`", part[:part.index(end)], re.MULTILINE)


def main():
    architects, collectives, verification = page("guides/running.md"), page("models/fused-collectives.md"), page("guides/verification.md")
    run, nic = schema("run"), schema("system")["nic"]["properties"]
    workload, workloads = run["workload"]["properties"], row(architects, "workload")
    for name in ("gemm", "embedding", "gemv", "experts", "collective"):
        compare(f"running.md, {name}", keys_of(workloads, name), workload[name]["properties"])
    compare("running.md, workload", [key for key in workload if f'"{key}"' in workloads or f"`{key}`" in workloads], workload)
    fused = workload["fused"]["enum"]
    compare("running.md, fused", [value for value in fused if f"`{value}`" in workloads], fused)
    compare("fused-collectives.md, fused", first_column(collectives, "| `workload.fused` |", "\n\n")[1:], fused)
    for key in ("method", "mca_scope", "data", "operands", "simulate", "check"):
        values = [value for value in run[key]["enum"] if f"`{value}`" in row(architects, key)]
        compare(f"running.md, {key}", values, run[key]["enum"])
    limits = re.findall(r"^\| `limits\.(\w+)`", architects, re.MULTILINE)
    compare("running.md, limits", limits, run["limits"]["properties"])
    compare("running.md, system.nic", re.findall(r'"(\w+)": ', re.search(r'"nic": \{(.*?)\}', architects).group(1)), nic)
    faults = re.findall(r'^\| `\{"(\w+)"', verification, re.MULTILINE)
    compare("verification.md, inject", faults, run["inject"]["properties"])
    if WRONG:
        sys.exit("\n".join(WRONG))


main()
