"""Times measured on four H200 beside simulated ones (t3vp validate h200), for docs/validation/h200.md."""
import csv

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
    return sorted(rows_in(out / NAME / "h200.csv"), key=lambda row: -abs(float(row["error"])))


def what(row):
    """What a row of the data is."""
    measured = rows_in(DATA / row["file"])[int(row["row"]) - 1]
    if "M" in measured:
        return f"GEMM, {measured['M']} x {measured['N']} x {measured['K']}"
    if "op" in measured:
        return f"{measured['op'].replace('_', '-')}, {measured['mbytes']} MiB"
    return f"embedding, batch {measured['global_batch']}, {measured['tables_per_gpu']} tables: `{row['quantity']}`"


def percent(error):
    return f"{float(error) * 100:+.1f}%"


def files(out):
    rows = [["file", "times", "mean error", "worst error", "within 15%"]]
    found = simulated(out)
    for file in dict.fromkeys(sorted(row["file"] for row in found)):
        errors = [float(row["error"]) for row in found if row["file"] == file]
        good = sum(abs(error) <= GOOD for error in errors)
        rows.append([f"`{file}`", str(len(errors)), f"{100 * sum(map(abs, errors)) / len(errors):.1f}%", percent(errors[0]), str(good)])
    return table(rows)


def times(out):
    return table([["what", "row", "measured, us", "simulated, us", "error"]] +
                 [[what(row), row["row"], f"{float(row['measured_us']):.1f}", f"{float(row['simulated_us']):.1f}", percent(row["error"])]
                  for row in simulated(out)])


def block(kind, out):
    return files(out) if kind == "files" else times(out)
