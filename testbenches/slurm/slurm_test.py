"""t3vp experiment --slurm on a real Slurm: a job that is killed half-way, a run that fails, and one command to go on.

  slurm_test.py SOURCE_DIRECTORY T3VP

Without Slurm it says so and ends with 77 (CTest: skipped), or fails when T3VP_ALL_TESTS is set.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import slurm_cluster

SOURCE, T3VP = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
SMALL = {f"{m} tokens": {"workload.gemm.m": m} for m in (256, 512, 768, 1024)}
LONG, BAD = "long", "bad"
CASES = {**SMALL, LONG: {"workload.gemm.m": 16384}, BAD: {"workload.gemm.m": 128, "limits.simulated_ms": 0.001}}
TASK_OF_LONG, TASK_OF_BAD = len(SMALL) + 1, len(SMALL) + 2


def write_experiment(file):
    file.write_text(json.dumps({
        "name": "Slurm", "base": str(SOURCE / "configs/runs/gemm-rs-4gpu.json"),
        "cases": [{"name": name, "set": settings} for name, settings in CASES.items()],
        "methods": [{"name": "t3-mca", "method": "t3-mca", "set": {"data": "timing-only"}}],
        "quantities": [{"name": "time", "value": "time_ns.total[t3-mca]"}],
        "plot": [{"file": "times", "kind": "bars"}]}), encoding="utf-8")


class Sweep:
    """One experiment, with a folder of runs and one of results."""

    def __init__(self, cluster, home, name):
        self.cluster = cluster
        self.runs, self.out = home / f"{name} runs", home / f"{name} results"
        self.command = [T3VP, "experiment", home / "experiment.json", "--runs", self.runs, "--out", self.out]

    def run(self, *options):
        return self.cluster.run(*map(str, [*self.command, *options]))

    def submit(self):
        """Returns the line about missing runs, and the jobs' numbers."""
        done = self.run("--slurm=--time=10 --comment='a test'")
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[0], re.search(r"^To cancel: scancel (.*)$", done.stdout, re.M)[1].split()

    def status(self):
        """The counts of passed, running, failed and missing runs; the failures; the exit code."""
        done = self.run("--status")
        counts = re.search(r": (\d+) of 6 runs passed, (\d+) running, (\d+) failed, (\d+) missing\n$", done.stdout)
        assert counts, done
        return [int(count) for count in counts.groups()], done.stderr, done.returncode

    def reports(self):
        return {report: report.stat().st_mtime_ns for report in self.runs.glob("*/report.json")}

    def wait_for_end(self):
        self.cluster.wait_until(lambda: not self.cluster.states(), 180, "jobs are left")

    def log(self, name):
        return (self.out / "slurm" / name).read_text(encoding="utf-8")


def check_whole(sweep, expected):
    """All runs but the bad one passed, it is named, and the results are those of one machine."""
    counts, failures, exit_code = sweep.status()
    assert counts == [5, 0, 1, 0] and exit_code == 1, (counts, failures)
    for named in (failures, sweep.log(f"{TASK_OF_BAD}.txt"), sweep.log("results.txt")):
        assert re.search(r"^bad, t3-mca: .*limits\.simulated_ms.*log\.txt\)$", named, re.M), named
    assert (sweep.out / "results.csv").read_bytes() == (expected / "results.csv").read_bytes()
    page, expected_page = ((folder / "result.md").read_text(encoding="utf-8") for folder in (sweep.out, expected))
    assert page.replace(str(sweep.runs), "RUNS") == expected_page.replace(str(expected / "runs"), "RUNS"), page
    assert (sweep.out / "times.gnuplot").exists()


def check_killed_job(cluster, home, expected):
    sweep = Sweep(cluster, home, "killed's")
    assert sweep.run("--shard", "1/6").returncode == 0
    first = sweep.reports()
    line, (array, results) = sweep.submit()
    assert line.startswith("5 of 6 runs are missing. Array job "), line
    task = f"{array}_{TASK_OF_LONG}"
    cluster.wait_until(lambda: cluster.states(task) == ["RUNNING"] and sweep.status()[0] == [4, 1, 1, 0], 90,
                       "the long run is not alone")
    reason = cluster.output("squeue", "--jobs", results, "--noheader", "--format=%r").strip()
    assert reason == "Dependency", reason
    before = sweep.reports()
    cluster.output("scancel", "--signal=KILL", "--full", task)
    sweep.wait_for_end()
    state = cluster.output("scontrol", "show", "job", task)
    assert re.search(r"JobState=(FAILED|CANCELLED)", state), state
    check_whole(sweep, expected)
    after = sweep.reports()
    assert len(after) == 5 and before.items() <= after.items() and first.items() <= before.items()


def check_cancelled_jobs(cluster, home, expected):
    sweep = Sweep(cluster, home, "cancelled %a")
    _, jobs = sweep.submit()
    cluster.wait_until(lambda: sweep.status()[0][0] >= 1, 60, "no run passes")
    cluster.output("scancel", *jobs)
    sweep.wait_for_end()
    before = sweep.reports()
    counts, _, exit_code = sweep.status()
    assert 1 <= counts[0] < 5 and counts[1] == 0 and exit_code == 1, counts
    line, _ = sweep.submit()
    assert line.startswith(f"{6 - counts[0]} of 6 runs are missing."), line
    sweep.wait_for_end()
    check_whole(sweep, expected)
    assert before.items() <= sweep.reports().items()


def check_refusals(cluster, home):
    sweep = Sweep(cluster, home, "refused")
    for options in ("--partition=nowhere", "--no-such-option"):
        done = sweep.run(f"--slurm={options}")
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout, done
        assert done.stderr.startswith("--slurm: found a job that sbatch refuses ("), done
        assert options.partition("=")[2] in done.stderr, done
    assert not cluster.states()


def main():
    slurm_cluster.require_tools()
    with tempfile.TemporaryDirectory(prefix="t3vp-slurm-") as folder:
        home = pathlib.Path(folder) / "a user's home"
        home.mkdir()
        write_experiment(home / "experiment.json")
        expected = home / "expected"
        alone = subprocess.run([T3VP, "experiment", home / "experiment.json", "--out", expected], capture_output=True, text=True)
        assert alone.returncode == 1 and "bad, t3-mca" in alone.stderr, alone
        pathlib.Path(folder).chmod(0o755)  # munge requires that everybody may pass
        (pathlib.Path(folder) / "cluster").mkdir()
        with slurm_cluster.Cluster(pathlib.Path(folder) / "cluster") as cluster:
            check_refusals(cluster, home)
            check_killed_job(cluster, home, expected)
            check_cancelled_jobs(cluster, home, expected)


main()
