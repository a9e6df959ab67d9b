"""A run over several processes ends when one of them does: a killed process, one that hangs, a limit, a failure.

  ends_test.py SOURCE_DIRECTORY T3VP

Without MPI it says so and ends with 77 (CTest: skipped), or fails when T3VP_ALL_TESTS is set.
"""

import os
import pathlib
import re
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


def require_end(process, home, exit_codes, pattern):
    _, errors = process.communicate(timeout=120)
    lines = errors.splitlines()
    assert process.returncode in exit_codes, (process.returncode, lines)
    assert len(lines) == (1 if pattern else 0) and (not pattern or re.fullmatch(pattern, lines[0])), lines
    assert not processes_of(home)
    assert not list((pathlib.Path(home) / "2 ranks").glob("report*"))
    print(f"{pattern or 'no line'}: exit code {process.returncode}")


def check_signal(number, rank, exit_codes, pattern):
    """A rank gets a signal, or mpirun does."""
    with tempfile.TemporaryDirectory() as home:
        process, ranks = start(home)
        os.kill(process.pid if rank is None else ranks[rank], number)
        require_end(process, home, exit_codes, pattern.format(rank=rank, process=ranks.get(rank)))


def check_stopped(rank):
    """A rank does not go on: the other one names it."""
    with tempfile.TemporaryDirectory() as home:
        process, ranks = start(home, "limits.rank_s=3")
        os.kill(ranks[rank], signal.SIGSTOP)
        require_end(process, home, [1], r"t3vp: limits\.rank_s: no answer for 3 s at [0-9.e-]+ ms of simulated time from "
                                        rf"rank {rank} \(process {ranks[rank]} on .*\); see whether .*")


def check_stopped_at_wall_limit():
    """limits.wall_s of the first rank ends a run whose other rank hangs."""
    with tempfile.TemporaryDirectory() as home:
        process, ranks = start(home, "limits.wall_s=6")
        os.kill(ranks[1], signal.SIGSTOP)
        require_end(process, home, [1], r"t3vp: limits\.wall_s: .*")


def check_paused():
    """What mpirun stops together, as Ctrl-Z does, goes on."""
    with tempfile.TemporaryDirectory() as home:
        process, ranks = start(home, "limits.rank_s=2", "limits.simulated_ms=0.4")
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for rank in ranks.values():
                os.kill(rank, number)
            time.sleep(4 if number == signal.SIGSTOP else 0)
        require_end(process, home, [1], r"t3vp: limits\.simulated_ms: .*")


def check_simulated_limit():
    with tempfile.TemporaryDirectory() as home:
        done = runs.Runs(T3VP, home, GEMM, [*LONG, "limits.simulated_ms=0.05"]).run(2)
        lines = done.stderr.splitlines()
        assert done.returncode == 1 and len(lines) == 1 and "limits.simulated_ms" in lines[0], (done.returncode, lines)


if __name__ == "__main__":
    runs.require_mpi(T3VP)
    for killed in (0, 1):
        check_signal(signal.SIGKILL, killed, [137], r"t3vp: rank {rank} \(process {process}\) has been killed or has ended by "
                                                    r"itself: see .*, and start the run again")
        check_stopped(killed)
    check_signal(signal.SIGSEGV, 1, [139], r"t3vp: rank 1 \(process {process}\) has been killed or has ended by itself: see .*")
    check_signal(signal.SIGTERM, 1, [1], rf"t3vp: rank 1 has been ended by signal 15 \(SIGTERM\) from process {os.getpid()}")
    check_signal(signal.SIGINT, None, [1], "")
    check_stopped_at_wall_limit()
    check_paused()
    check_simulated_limit()
