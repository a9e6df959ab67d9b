"""Random legal runs with data: the race detector finds nothing in them, and changes nothing in their reports.

  random_runs_test.py T3VP SOURCE_DIRECTORY [--runs N] [--seed N]
"""
import argparse
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "laws"))
from machine import FailedRun, IllegalRun, Machine  # noqa: E402
from random_runs import random_run  # noqa: E402

OF_THE_RUN_ALONE = ("host", "config_hash", "version")


def without_check(report):
    return {key: value for key, value in report.items() if key not in OF_THE_RUN_ALONE}


def found_in(machine, run):
    """What is wrong with the run, in words; empty when nothing is."""
    plain = machine.report_of({**run, "check": "none"})
    try:
        checked = machine.report_of({**run, "check": "races"})
    except FailedRun as failed:
        return str(failed)
    if without_check(plain) != without_check(checked):
        return f"another report with the check\n  {machine.command_of(run)}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("t3vp")
    parser.add_argument("root")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    machine, generator = Machine(options.t3vp, options.root), random.Random(f"races/{options.seed}")
    legal = wrong = 0
    while legal < options.runs:
        run = {**random_run(generator), "data": "functional"}
        try:
            text = found_in(machine, run)
        except IllegalRun:
            continue
        legal += 1
        if text:
            wrong += 1
            print(text, flush=True)
    print(f"{legal} random runs of seed {options.seed} with data: {wrong} with races or another report")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
