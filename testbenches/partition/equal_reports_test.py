"""A run has the same report over any number of processes: fabrics, methods, data, injected faults, partitions.

  equal_reports_test.py SOURCE_DIRECTORY T3VP [PART_OF_A_NAME]

Without MPI it says so and ends with 77 (CTest: skipped), or fails when T3VP_ALL_TESTS is set.
"""

import difflib
import pathlib
import sys
import tempfile

import runs

SOURCE, T3VP = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
CONFIGS = SOURCE / "configs/runs"
GEMM = ["workload.gemm.m=512", "workload.gemm.n=512", "workload.gemm.k=256"]
RINGS = ["collectives.algorithm=ring"]
TORUS = 'system.links.topology={"kind": "torus", "dimensions": [2, 2]}'
SWITCH = 'system.links.topology={"kind": "switch", "latency_ns": 300}'
NODES = ('system.links.topology={"kind": "nodes", "gpus_per_node": 2, "inside": {"topology": "ring"}, '
         '"between": {"topology": "ring"}}')

GEMM_FILE, COLLECTIVE_FILE = "gemm-rs-4gpu.json", "all-reduce-4gpu.json"
CASES = {
    **{f"ring, {method}, {data}": (GEMM_FILE, [*GEMM, f"method={method}", f"data={data}"])
       for method in ("sequential", "t3", "t3-mca") for data in ("functional", "timing-only")},
    "ring of 5, clipped tiles": (GEMM_FILE, [*GEMM, "gpus=5", "workload.gemm.m=500", "data=functional"]),
    "ring, detailed statistics": (GEMM_FILE, [*GEMM, "statistics=detailed", "data=timing-only"]),
    "ring, protocol checks": (GEMM_FILE, [*GEMM, "check=all", 'check=["protocol", "memory"]']),
    "ring, jitter": (GEMM_FILE, [*GEMM, 'jitter={"seed": 3}', "data=timing-only"]),
    "fully connected, sequential": (GEMM_FILE, [*GEMM, "collectives=null", "method=sequential",
                                                "system.links.topology=fully-connected"]),
    "fully connected, T3": (GEMM_FILE, [*GEMM, "collectives=null", "method=t3-mca",
                                        "system.links.topology=fully-connected"]),
    "torus, sequential": (GEMM_FILE, [*GEMM, "collectives=null", "method=sequential", TORUS]),
    "switch, sequential": (GEMM_FILE, [*GEMM, "collectives=null", "method=sequential", SWITCH]),
    "switch, T3": (GEMM_FILE, [*GEMM, "collectives=null", "method=t3-mca", SWITCH]),
    **{f"{op} alone": (COLLECTIVE_FILE, [f"workload.collective.op={op}"])
       for op in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")},
    "lost updates": (GEMM_FILE, [*GEMM, "data=functional", 'inject={"lose_updates": {"gpu": 2, "count": 3}}']),
    "a flipped bit": (GEMM_FILE, [*GEMM, "data=functional", 'inject={"flip_bit": {"gpu": 3, "access": 40, "bit": 7}}']),
    "rounded wrongly": (GEMM_FILE, [*GEMM, "data=functional", "operands=random", "inject={\"wrong_rounding\": {\"gpu\": 1}}"]),
}


def difference(one, other):
    return "\n".join(list(difflib.unified_diff(one.splitlines(), other.splitlines(), lineterm="", n=2))[:40])


def check(name, run_file, settings, ranks):
    with tempfile.TemporaryDirectory() as home:
        these = runs.Runs(T3VP, home, CONFIGS / run_file, settings)
        alone = these.run(None, "--in-process")
        assert (these.home / "None ranks" / "report.json").exists(), (name, alone.stderr)
        for count in ranks:
            done = these.run(count)
            assert done.returncode == alone.returncode, (name, count, done.stdout, done.stderr)
            assert done.stderr == alone.stderr, (name, count, done.stderr, alone.stderr)
            assert these.report(count) == these.report(None), \
                f"{name}: {count} ranks\n{difference(these.report(None), these.report(count))}"
    print(f"{name}: equal with {', '.join(map(str, ranks))} ranks")


def check_partitions():
    """The ranks of GPUs change nothing, and are not in the hash."""
    for partition in ("[[0, 2], [1, 3]]", "[1, 0, 0, 1]"):
        check(f"partition {partition}", GEMM_FILE, [*GEMM, f"partition={partition}", "data=functional"], [2])
    with tempfile.TemporaryDirectory() as home:
        reports = [runs.Runs(T3VP, pathlib.Path(home) / str(i), CONFIGS / GEMM_FILE, [*GEMM, *more])
                   for i, more in enumerate(([], ["partition=[[3], [0, 1, 2]]"]))]
        for one in reports:
            one.home.mkdir()
            assert one.run(None).returncode == 0
        assert reports[0].report(None) == reports[1].report(None)


if __name__ == "__main__":
    runs.require_mpi(T3VP)
    wanted = sys.argv[3] if len(sys.argv) > 3 else ""
    for case, (file, changes) in CASES.items():
        if wanted in case:
            check(case, file, changes, [1, 2, 3, 4])
    if not wanted:
        check_partitions()
