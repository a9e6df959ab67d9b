"""`t3vp explain` of two reports, and of reports that it refuses.

  explain_test.py SOURCE_DIRECTORY PROGRAM
"""
import json
import pathlib
import subprocess
import tempfile

from runs import PROGRAM, Report, differ, end, t3vp

RUN = {"gpus": 4, "collectives": {"algorithm": "ring"}, "workload": {"gemm": {"m": 1024, "n": 1024, "k": 512}}}


def numbers(row):
    return [float(number) for number in row[22:].split()]


def difference(folder, first, second):
    files = []
    for name, report in (("first", first), ("second", second)):
        files.append(folder / f"{name}.json")
        files[-1].write_text(json.dumps(report.content), encoding="utf-8")
    rows = t3vp("explain", *files).splitlines()
    if len(rows) != 10:
        yield f"found {len(rows)} lines, expected 10"
    *parts, total = map(numbers, rows[3:])
    for column, expected in enumerate((first.total, second.total, second.total - first.total)):
        if differ(total[column] * 1000, expected, 0.001):
            yield f"found the total {total[column]} us in column {column}, expected {expected} ns"
        if abs(sum(part[column] for part in parts) - total[column]) > 0.1:
            yield f"found rows that add up to {sum(part[column] for part in parts)}, expected {total[column]}"


def refused(folder, content, place):
    file = folder / "refused.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    done = subprocess.run([PROGRAM, "explain", file], capture_output=True, text=True, check=False)
    if done.returncode != 2 or f"{file}: {place}: found" not in done.stderr or done.stderr.count("\n") != 1:
        yield f"found exit code {done.returncode} and {done.stderr!r}, expected 2 and a line about {place}"


first, second = (Report("t3-table1", {**RUN, "method": method}) for method in ("sequential", "t3"))
without_parts = {key: value for key, value in first.content.items() if key != "bounded_by"}
doubled = {name: 2 * ns for name, ns in first.content["bounded_by"]["total"].items()}
with tempfile.TemporaryDirectory() as home:
    folder = pathlib.Path(home)
    end([*difference(folder, first, second), *refused(folder, without_parts, "/bounded_by"),
         *refused(folder, {**first.content, "bounded_by": {"total": doubled}}, "/bounded_by/total"),
         *refused(folder, {**first.content, "time_ns": {**first.content["time_ns"], "total": 0}}, "/time_ns/total")])
