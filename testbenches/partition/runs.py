"""Runs of t3vp over several processes, for the tests of this folder."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77


def require_mpi(t3vp):
    """Ends with 77 (CTest: skipped) where mpirun starts nothing. Without mpirun or the library, so does it, or fails
    when T3VP_ALL_TESTS is set."""
    missing = None if shutil.which("mpirun") else "mpirun (openmpi-bin) is not installed"
    if missing is None and not (t3vp.parent / "libt3vp_mpi.so").exists():
        missing = "this build has no libt3vp_mpi.so (libboost-mpi-dev)"
    if missing:
        print(f"skipped: {missing}")
        sys.exit(1 if os.environ.get("T3VP_ALL_TESTS") else SKIPPED)
    probe = subprocess.run([*mpirun(2), "true"], capture_output=True, text=True, timeout=60)
    if probe.returncode != 0:
        print(f"skipped: mpirun cannot start processes on this machine: {probe.stderr.strip()[:200]}")
        sys.exit(SKIPPED)


def mpirun(ranks):
    """The start of a command. mpirun's own lines are left out."""
    return ["mpirun", "--quiet", "--oversubscribe", "--allow-run-as-root", "-np", str(ranks)]


def end_at_once():
    """From now on mpirun kills the other processes of a run that has failed, in place of waiting 2 s for them."""
    os.environ["OMPI_MCA_odls_base_sigkill_timeout"] = "0"


class Runs:
    """Runs of one run file, each in a folder of its own."""

    def __init__(self, t3vp, home, run_file, settings=()):
        self.t3vp, self.home, self.run_file = t3vp, pathlib.Path(home), run_file
        self.settings = [part for setting in settings for part in ("--set", setting)]

    def command(self, ranks, *options):
        """ranks: None without mpirun."""
        out = self.home / f"{ranks} ranks"
        return [*(mpirun(ranks) if ranks else []), str(self.t3vp), "run", str(self.run_file), *self.settings, "--out",
                str(out), *options]

    def run(self, ranks, *options, timeout=300):
        return subprocess.run(self.command(ranks, *options), capture_output=True, text=True, timeout=timeout)

    def whole_report(self, ranks):
        return json.loads((self.home / f"{ranks} ranks" / "report.json").read_text())

    def host(self, ranks):
        return self.whole_report(ranks)["host"]

    def report(self, ranks):
        """The bytes of the report but `host`."""
        report = self.whole_report(ranks)
        del report["host"]
        return json.dumps(report, indent=1)
