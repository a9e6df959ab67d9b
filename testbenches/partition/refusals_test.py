"""What a run over several processes refuses: one line, from one process, and exit code 2.

  refusals_test.py SOURCE_DIRECTORY T3VP

The partitions of run files are tested in any case, the rest where MPI is installed: else it says so and ends with 77
(CTest: skipped), or fails when T3VP_ALL_TESTS is set.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import runs

SOURCE, T3VP = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
GEMM = SOURCE / "configs/runs/gemm-rs-4gpu.json"
RUN = "a run over several processes: found "

PARTITIONS = {
    "[[0, 1], [2]]": "/partition: found .*, expected all GPUs from 0 to 3; none has GPU 3",
    "[[0, 1], [2, 3, 1]]": "/partition/1/2: found 1.*, expected each GPU once; rank 0 has it",
    "[[0, 1], [2, 3, 4]]": "/partition/1/2: found 4.*, expected a GPU from 0 to 3",
    "[[0, 1, 2, 3], []]": "/partition.*: found .*, expected .*",
    "[0, 1, 1]": "/partition: found .*, expected the rank of each of 4 GPUs",
    "[0, 2, 2, 0]": "/partition: found .*, expected ranks without a gap; rank 1 has no GPU",
    "[]": "/partition: found .*, expected .*",
    "[[0, 1], 2]": "/partition/1: found 2.*, expected a list of GPUs like the first",
    "[0, [1, 2, 3]]": "/partition/1: found \\[1,2,3\\].*, expected a rank like the first",
    "[0, 0.5, 1, 1]": "/partition/1: found 0.5.*, expected an integer from 0 to 255 or a list that is not empty",
    "[0, -1, 1, 1]": "/partition/1: found -1.*, expected an integer from 0 to 255 or a list that is not empty",
    "[[0, 1], [2, 300]]": "/partition/1/1: found 300.*, expected an integer from 0 to 255",
    "2": "/partition: found 2.*, expected .*",
}
# Settings and options, processes, and the line.
REFUSED = [
    (["partition=[[0, 1], [2, 3]]"], [], 3, "/partition: found 2 ranks, expected 3, as mpirun has started"),
    ([], [], 5, "mpirun: found 5 processes, expected at most 4, a GPU each at least"),
    (["simulate=mirror", "data=timing-only"], [], 2, "/simulate: found mirror, expected all in a run over"),
    (["check=races", "data=functional"], [], 2, RUN + "check: races, expected other checks"),
    (["system.links.link_latency_ns=0"], [], 2, RUN + "system.links.link_latency_ns: 0 from GPU 0 to GPU 3"),
    (["gpus=2", "method=sequential", "collectives=null", "system.nic.wire_latency_ns=0",
      "system=" + str(SOURCE / "configs/systems/mi210-2nodes.json")], [], 2,
     RUN + "system.nic.wire_latency_ns: 0, expected more between processes"),
    (["system.host={\"exchange_ns\": 0}"], [], 2, RUN + "system.host.exchange_ns: 0, expected more"),
    ([], ["--trace"], 2, "--trace: found " + RUN[:-8] + ", expected a run in one process"),
    ([], ["--dump-arrays"], 2, "--dump-arrays: found "),
    ([], ["--register-trace", "accesses.txt"], 2, "--register-trace: found "),
    ([], ["--replicates", "3"], 2, "--replicates: found "),
    ([], ["--gdb", "0"], 2, "--gdb: found "),
    ([], ["--variants", "v.json"], 2, "--variants: found "),
    ([], ["--trace-from", "5"], 2, "--trace-from: found "),
    ([], ["--trace-to", "5"], 2, "--trace-to: found "),
    ([], ["--no-such-option"], 2, "t3vp run: found --no-such-option"),
]


def require_line(done, pattern, what):
    lines = done.stderr.splitlines()
    assert done.returncode == 2 and len(lines) == 1, (what, done.returncode, done.stderr)
    assert re.search(pattern, lines[0]), (what, lines[0])


def check_partitions():
    for partition, pattern in PARTITIONS.items():
        done = subprocess.run([T3VP, "check", GEMM, "--set", f"partition={partition}"], capture_output=True, text=True,
                              check=False)
        require_line(done, pattern, partition)


def check_missing_library(home):
    """A build without Boost.MPI: the program alone."""
    alone = shutil.copy(T3VP, home)
    environment = {**os.environ, "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}
    done = subprocess.run([alone, "run", GEMM], capture_output=True, text=True, env=environment, check=False)
    require_line(done, "mpirun: found no libt3vp_mpi.so beside t3vp, expected a build where CMake finds Boost.MPI",
                 "no library")


def check_other_commands():
    """mpirun starts several processes of `run` alone; one process of another command starts runs as usual."""
    done = subprocess.run([*runs.mpirun(2), T3VP, "check", GEMM], capture_output=True, text=True, check=False)
    require_line(done, "mpirun: found 2 processes of t3vp check, expected one, or processes of t3vp run", "check")
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run([*runs.mpirun(1), T3VP, "experiment", SOURCE / "configs/experiments/small-sweep.json", "--runs", home,
                               "--shard", "1/12"], capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0 and "1 of 12 runs, 0 failed" in done.stdout, (done.returncode, done.stdout, done.stderr)


if __name__ == "__main__":
    check_partitions()
    with tempfile.TemporaryDirectory() as folder:
        check_missing_library(folder)
        runs.require_mpi(T3VP)
        runs.end_at_once()
        for settings, options, ranks, line in REFUSED:
            these = runs.Runs(T3VP, folder, GEMM, settings)
            require_line(these.run(ranks, *options), line.replace("(", r"\("), (settings, options))
            assert not (pathlib.Path(folder) / f"{ranks} ranks").exists()
        check_other_commands()
