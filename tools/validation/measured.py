"""Values measured on H200 beside simulated ones (t3vp validate h200), for docs/validation/h200.md."""
import csv
import math

from validation.stamps import ROOT
from validation.tables import table

NAME = "h200"
DATA = ROOT / "testbenches/experiments/h200"
GOOD = 0.15  # of the measured time


def command(program, out):
    return [program, "validate", NAME, "--data", DATA, "--out", out / NAME]


def rows_in(file):
    with open(file, newline="") as text:
        return list(csv.DictReader(text))


def simulated(out):
    """Rows with a simulated value, the largest error first."""
    found = [row for row in rows_in(out / NAME / "h200.csv") if row["error"]]
    return sorted(found, key=lambda row: -abs(logarithm(row)))


def logarithm(row):
    return math.log1p(float(row["error"]))


def what(row):
    """What a row of the data is."""
    measured = rows_in(DATA / row["file"])[int(row["row"]) - 1]
    quantity = "" if row["quantity"] == "us" else f": `{row['quantity']}`"
    if "M" in measured:
        tile = f", tile {measured['tile_m']} x {measured['tile_n']}" if measured.get("tile_m") else ""
        return f"GEMM, {measured['M']} x {measured['N']} x {measured['K']}{tile}{quantity}"
    if "op" in measured:
        return f"{measured['op'].replace('_', '-')}, {measured['mbytes']} MiB"
    if "ctas" in measured:
        return f"{measured['mbytes']} MiB on {measured['ctas']} workgroups{quantity}"
    if "rows" in measured:
        return f"embedding, batch {measured['batch']}, {measured['tables']} tables of {measured['rows']} rows, pool {measured['pool']}"
    if "sublayer" in measured:
        return f"{measured['model']} {measured['sublayer']}{quantity}"
    return f"embedding, batch {measured['global_batch']}, {measured['tables_per_gpu']} tables{quantity}"


def percent(error):
    return f"{float(error) * 100:+.1f}%"


def mean(values):
    return math.expm1(sum(values) / len(values))


def files(out):
    rows = [["file", "values", "error", "bias", "worst error", "within 15%"]]
    found = simulated(out)
    for file in dict.fromkeys(sorted(row["file"] for row in found)):
        its = [row for row in found if row["file"] == file]
        good = sum(abs(float(row["error"])) <= GOOD for row in its)
        rows.append([f"`{file}`", str(len(its)), f"{100 * mean([abs(logarithm(row)) for row in its]):.1f}%",
                     percent(mean([logarithm(row) for row in its])), percent(its[0]["error"]), str(good)])
    return table(rows)


def shown(value):
    return f"{float(value):.1f}" if float(value) < 1e6 else f"{float(value):.4g}"


def times(out):
    return table([["what", "file", "row", "unit", "measured", "simulated", "error"]] +
                 [[what(row), row["file"], row["row"], row["unit"], shown(row["measured"]), shown(row["simulated"]), percent(row["error"])]
                  for row in simulated(out)])


def block(kind, out):
    return files(out) if kind == "files" else times(out)
