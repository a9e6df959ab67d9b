"""Tables of targets, from the experiments' compare.csv. causes.json has a line on each target that is not met."""
import csv
import json
import pathlib

from validation.tables import rows_of, table

CAUSES = pathlib.Path(__file__).parent / "causes.json"
ORDER = ("error", "not available", "missed", "met", "reported")
TARGETS = ("target", "experiment", "paper", "ours", "difference", "tolerance", "verdict")
SUMMARY = ("target", "experiment", "paper", "ours", "verdict", "cause")


def three_digits(text):
    if not text:
        return ""
    value = float(text)
    return f"{value:#.3g}".rstrip(".") if abs(value) < 999.5 else f"{value:.0f}"


def rows_in(folder, causes):
    """The targets of an experiment, by column."""
    with open(folder / "compare.csv", newline="") as file:
        for row in csv.DictReader(file):
            cause = "" if row["verdict"] == "met" else causes.get(folder.name, {}).get(row["id"], "not known")
            yield {**row, "experiment": folder.name, "ours": three_digits(row["ours"]), "cause": cause,
                   "difference": f"{float(row['difference']):+.3f}" if row["difference"] else ""}


def target_table(columns, names, taken, out, block):
    """The targets of these experiments, misses first. Rows of those that are not taken stay as the block has them."""
    causes = json.loads(CAUSES.read_text())
    head, *old = rows_of("\n".join(line for line in block.splitlines() if line.startswith("|"))) or [columns]
    rows = [row for row in (dict(zip(head, cells)) for cells in old) if row["experiment"] in names and row["experiment"] not in taken]
    for name in taken:
        if name in names and (out / name / "compare.csv").exists():
            rows += rows_in(out / name, causes)
    rows.sort(key=lambda row: (ORDER.index(row["verdict"]), names.index(row["experiment"])))
    return table([list(columns)] + [[row[column] for column in columns] for row in rows])
