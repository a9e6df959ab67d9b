"""A run over several processes ends when one of them does: a killed process, one that hangs, a limit, a failure.

  ends_test.py SOURCE_DIRECTORY T3VP

Without MPI it says so and ends with 77 (CTest: skipped), or fails when T3VP_ALL_TESTS is set.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import runs

SOURCE, T3VP = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
GEMM = SOURCE / "configs/runs/gemm-rs-4gpu.json"
LONG = ["data=timing-only", "workload.gemm.m=32768", "workload.gemm.n=8192"]


def rank_of(process):
    environment = pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    return next((int(entry.split(b"=")[1]) for entry in environment if entry.startswith(b"OMPI_COMM_WORLD_RANK=")), None)


def processes_of(home):
    """The ranks that simulate into the folder, by number."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if str(home).encode() in (entry / "cmdline").read_bytes() and b"mpirun" not in (entry / "cmdline").read_bytes():
                found[rank_of(entry.name)] = int(entry.name)
        except (OSError, ValueError):
            pass
    return found


def start(home, *settings):
    these = runs.Runs(T3VP, home, GEMM, [*LONG, *settings])
    process = subprocess.Popen(these.command(2), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while len(processes_of(home)) < 2 or not (pathlib.Path(home) / "2 ranks").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    time.sleep(2)
    return process, processes_of(home)


def check_killed(rank):
    with tempfile.TemporaryDirectory() as home:
        process, ranks = start(home)
        os.kill(ranks[rank], signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
        lines = errors.splitlines()
        assert process.returncode != 0, process.returncode
        assert len(lines) == (1 if rank != 0 else 0), lines
        assert not processes_of(home)
        assert not list((pathlib.Path(home) / "2 ranks").glob("report*"))
        print(f"rank {rank} killed: exit code {process.returncode}: {lines}")


def check_stopped():
    """A process that does not go on: limits.wall_s of the first one ends all."""
    with tempfile.TemporaryDirectory() as home:
        process, ranks = start(home, "limits.wall_s=6")
        os.kill(ranks[1], signal.SIGSTOP)
        _, errors = process.communicate(timeout=60)
        lines = errors.splitlines()
        assert process.returncode == 1 and len(lines) == 1 and "limits.wall_s" in lines[0], (process.returncode, lines)
        print(f"rank 1 stopped: {lines[0]}")


def check_simulated_limit():
    with tempfile.TemporaryDirectory() as home:
        done = runs.Runs(T3VP, home, GEMM, [*LONG, "limits.simulated_ms=0.05"]).run(2)
        lines = done.stderr.splitlines()
        assert done.returncode == 1 and len(lines) == 1 and "limits.simulated_ms" in lines[0], (done.returncode, lines)


if __name__ == "__main__":
    runs.require_mpi(T3VP)
    check_killed(1)
    check_killed(0)
    check_stopped()
    check_simulated_limit()
