"""One short row of each page, made again: does the page's number still come out?"""
import csv
import json
import re
import subprocess
import time
from typing import NamedTuple

from validation import measured, stamps
from validation.pages import BLOCK, shown_in
from validation.stamps import ROOT
from validation.tables import rows_of, tables_in

EXPERIMENTS = ROOT / "configs/experiments"


class Check(NamedTuple):
    page: str
    experiment: str
    case: str  # or the file of measured times
    row: str  # of the page
    column: str  # of the page
    value: str  # a quantity of the experiment, or arithmetic over its methods' figures, or the row of measured times
    form: str = "{:.4g}"  # as the page writes it


CHECKS = (
    Check("docs/validation/summary.md", "fig-16", "Mega-GPT-2 TP=16 OP", "Ideal-overlap speedup, Mega-GPT-2 OP at TP=16",
          "ours", "Ideal-GEMM-RS-Overlap", "{:#.3g}"),
    Check("docs/validation/t3.md", "fig-16", "Mega-GPT-2 TP=16 OP", "Mega-GPT-2 TP=16 OP", "T3-MCA", "T3-MCA"),
    Check("docs/validation/sensitivities.md", "sensitivity-mca-bands", "Mega-GPT-2 OP TP=16 bands 4-8-16",
          "Mega-GPT-2 OP TP=16 bands 4-8-16", "T3-MCA", "T3-MCA"),
    Check("docs/validation/gpu-initiated.md", "gi-fig-10", "256|32", r"256\|32", "time saved", "time saved"),
    Check("docs/models/policies.md", "policies-all", "Mega-GPT-2 TP=16 OP", "Mega-GPT-2 TP=16 OP", "compute-first", "compute-first"),
    Check("docs/validation/collective-times.md", "collectives-lines", "4 KiB", "reduce-scatter, 4 KiB", "ring",
          "time_ns.total[reduce-scatter: ring] / 1000", "{:.1f}"),
    Check("docs/tutorials/what-if.md", "what-if", "links of 300 GB/s", "links of 300 GB/s", "T3, us", "T3, us"),
)
FIGURE = re.compile(r"([\w.]+)\[([^\]]+)\]")


def shown(check):
    """The page's number: in the experiment's own table where there is one, else in the first table that has the row."""
    text = (ROOT / check.page).read_text()
    own = [found.group(0) for found in BLOCK.finditer(text)
           if found.groups() in (("results", f" {check.experiment}"), (check.experiment, " times"))]
    plain = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if line.startswith("    ")]
    for rows in [*map(rows_of, tables_in(own[0] if own else text)), [row for row in plain if "method" in row or len(row) > 5]]:
        head = rows[0] if rows else []
        for row in rows[1:]:
            if check.column in head and (row[0] == check.row or ", ".join(row[:2]) == check.row):
                return row[head.index(check.column)].split(" ")[0]
    return "no such row"


def absolute(value):
    """Files beside the experiment, from anywhere."""
    if isinstance(value, dict):
        return {key: absolute(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [absolute(entry) for entry in value]
    return str((EXPERIMENTS / value).resolve()) if isinstance(value, str) and value.startswith("../") else value


def reduced(check):
    """The experiment with no more methods than the value needs, and the value's arithmetic."""
    whole = json.loads((EXPERIMENTS / f"{check.experiment}.json").read_text())
    value = {entry["name"]: entry["value"] for entry in whole.get("quantities", [])}.get(check.value, check.value)
    used = {method for _, method in FIGURE.findall(value)}
    methods = [one for one in whole["methods"] if (one if isinstance(one, str) else one["name"]) in used]
    kept = {key: absolute(whole[key]) for key in ("base", "cases", "cross") if key in whole}
    return {"name": check.page, **kept, "methods": absolute(methods), "quantities": [{"name": "value", "value": value}]}


def made_again(check, program, out):
    """The number as it comes out now, or why there is none."""
    folder = out / "check" / check.page.replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    if check.experiment == measured.NAME:
        return measured_again(check, program, folder)
    file = folder / "experiment.json"
    experiment = reduced(check)
    file.write_text(json.dumps(experiment))
    run = subprocess.run([program, "experiment", file, "--case", check.case, "--out", folder, "--runs", out / "check/runs"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        return "no run: " + (run.stderr.strip().splitlines() or ["no message"])[-1]
    return check.form.format(value_of(experiment["quantities"][0]["value"], folder / "results.csv"))


def measured_again(check, program, folder):
    """The simulated time beside one row of measured times."""
    head, *rows = (measured.DATA / check.case).read_text().splitlines()
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / check.case).write_text(f"{head}\n{rows[int(check.value) - 1]}\n")
    run = subprocess.run([program, "validate", measured.NAME, "--data", folder / "data", "--out", folder],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        return "no run: " + (run.stderr.strip().splitlines() or ["no message"])[-1]
    return check.form.format(float(measured.rows_in(folder / "h200.csv")[0]["simulated"]))


def value_of(expression, results):
    with open(results, newline="") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    return eval(FIGURE.sub(lambda found: rows[found[2]][found[1]], expression), {"__builtins__": {}, "min": min, "max": max, "abs": abs})


def state_of(check):
    text = (ROOT / check.page).read_text()
    return stamps.stamps_on(text, shown_in(text)).get(check.experiment, stamps.Stamp("unknown")).text()


def check_all(program, out):
    """Prints the rows that do not come out. Returns whether all do."""
    begin = time.monotonic()
    wrong = 0
    for check in CHECKS:
        old, new = shown(check), made_again(check, program, out)
        if old != new:
            wrong += 1
            print(f"{check.page}: {check.row}, {check.column}: shown {old}, now {new}; shown is of {state_of(check)}", flush=True)
    print(f"{len(CHECKS) - wrong} of {len(CHECKS)} pages' rows come out, in {time.monotonic() - begin:.0f} s")
    return wrong == 0
