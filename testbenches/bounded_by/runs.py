"""Runs of t3vp for the tests of `bounded_by`, and what `t3vp explain` says of their reports."""
import json
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
PROGRAM = pathlib.Path(sys.argv[2]).resolve()


def t3vp(*arguments, wanted=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != wanted:
        sys.exit(f"t3vp {' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Report:
    """The report of a run, given by keys of its run file and settings."""

    def __init__(self, system, run, settings=None):
        with tempfile.TemporaryDirectory() as home:
            out = pathlib.Path(home)
            content = {"system": str(SOURCE / f"configs/systems/{system}.json"), **run}
            (out / "run.json").write_text(json.dumps(content), encoding="utf-8")
            options = [option for key, value in (settings or {}).items()
                       for option in ("--set", f"{key}={json.dumps(value)}")]
            t3vp("run", out / "run.json", "--out", out, *options)
            self.content = json.loads((out / "report.json").read_text(encoding="utf-8"))
            self.explanation = t3vp("explain", out / "report.json").splitlines()

    @property
    def total(self):
        return self.content["time_ns"]["total"]

    def parts(self, phase="total"):
        return self.content["bounded_by"][phase]

    def ranking(self):
        """Names of the parts of the total, the longest first."""
        return sorted(self.parts(), key=self.parts().get, reverse=True)

    def first_row(self):
        """Of the explanation: the part's name, its predicted gain in ns, and what limits that."""
        row = self.explanation[2]
        return row[2:22].strip(), float(row[22:].split()[2]) * 1000, row[22:].split(maxsplit=4)[4]


def differ(found, expected, share):
    return abs(found - expected) > share * abs(expected)


def end(mistakes):
    sys.exit("\n".join(mistakes) if mistakes else 0)
