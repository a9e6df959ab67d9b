"""A run has the same report over any number of processes: fabrics, NICs, methods, data, injected faults, partitions.

  equal_reports_test.py SOURCE_DIRECTORY T3VP [--full] [PART_OF_A_NAME]

Cases take turns with 2, 3 and 4 processes. The first case, with --full or a name every case, runs with 1 to 4. Without
MPI it says so and ends with 77 (CTest: skipped), or fails when T3VP_ALL_TESTS is set.
"""

import difflib
import pathlib
import sys
import tempfile

import runs

SOURCE, T3VP = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
CONFIGS = SOURCE / "configs/runs"
RDMA = T3VP.parent / "testbenches/software/rdma.so"
SMALL = f"system={SOURCE / 'configs/systems/small-4.json'}"
GEMM = [SMALL, "workload.gemm.m=192", "workload.gemm.n=192", "workload.gemm.k=128"]
TORUS = 'system.links.topology={"kind": "torus", "dimensions": [2, 2]}'
SWITCH = 'system.links.topology={"kind": "switch", "latency_ns": 300}'
ADDING = 'system.links.topology={"kind": "switch", "latency_ns": 100, "reduction": true}'
MERGING = 'system.links.topology={"kind": "switch", "latency_ns": 100, "merging_KiB": 64}'
ENDPOINT = ('system.endpoint={"sram_KiB": 8, "message_bytes": 512, "rings": 4, "adder_GBps": 320, "sram_GBps": 1280, '
            '"latency_ns": 40}')
FUNCTIONAL, TIMING = "data=functional", "data=timing-only"


def nodes(gpus, between=""):
    """Nodes of so many GPUs with NICs, which the topology of links between them joins, or nothing but NICs does."""
    inside = ', "inside": {"topology": "fully-connected"}' if gpus > 1 or between else ""
    return [SMALL, f'system.links.topology={{"kind": "nodes", "gpus_per_node": {gpus}{inside}{between}}}',
            'system.nic={"messages_per_us": 100, "io_latency_ns": 100, "io_GBps": 8, "entry_fetches": 16, '
            '"payload_in_flight_KiB": 16, "mtu_bytes": 1024, "wire_GBps": 4, "wire_latency_ns": 300, '
            '"writes_invalidate": true}']


LINKS_BETWEEN = ', "between": {"topology": "ring"}'
FUSED_GEMM = 'workload={"gemm": {"m": 192, "n": 192, "k": 64}, "fused": "hierarchical-reduce-scatter"}'
TABLES = ('workload={"embedding": {"global_batch": 16, "tables_per_gpu": 2, "dimension": 64, "pooling": 4, '
          '"rows": 100}}')
LOST = 'inject={"drop_packets": {"gpu": 2, "count": 3}}'

GEMM_FILE, COLLECTIVE_FILE, TABLES_FILE = "gemm-rs-4gpu.json", "all-reduce-4gpu.json", "embedding-4gpu.json"
CASES = {
    **{f"nodes with NICs, fused tables, {data}": (TABLES_FILE, [*nodes(2), TABLES, "method=fused", f"data={data}"])
       for data in ("functional", "timing-only")},
    "NICs alone, fused tables": (TABLES_FILE, [*nodes(1), TABLES, "method=fused", FUNCTIONAL]),
    "nodes with NICs, tables in bulk": (TABLES_FILE, [*nodes(2), TABLES, "method=bulk", FUNCTIONAL]),
    "nodes with NICs and links, zero-copy": (TABLES_FILE, [*nodes(2, LINKS_BETWEEN), TABLES, "method=zero-copy"]),
    "nodes with NICs, fused GEMM": (GEMM_FILE, [*nodes(2), FUSED_GEMM, "method=t3-mca", FUNCTIONAL]),
    "nodes with NICs, GEMM and reduce-scatter": (GEMM_FILE, [*GEMM, *nodes(2), "method=sequential", FUNCTIONAL]),
    **{f"reads and fetch-and-adds of NICs{name}": (TABLES_FILE, [*nodes(1), "workload=null", "method=null",
                                                                 FUNCTIONAL, f"program={RDMA}:operations", *lost])
       for name, lost in (("", []), (", packets lost", [LOST]))},
    "nodes with NICs, packets lost": (TABLES_FILE, [*nodes(2), TABLES, "method=fused", FUNCTIONAL, LOST]),
    **{f"ring, {method}, {data}": (GEMM_FILE, [*GEMM, f"method={method}", f"data={data}"])
       for method in ("sequential", "t3", "t3-mca") for data in ("functional", "timing-only")},
    "ring of 5, clipped tiles": (GEMM_FILE, [*GEMM, "gpus=5", "workload.gemm.m=180", FUNCTIONAL]),
    "ring, detailed statistics": (GEMM_FILE, [*GEMM, "statistics=detailed", TIMING]),
    "ring, protocol checks": (GEMM_FILE, [*GEMM, "check=all", 'check=["protocol", "memory"]']),
    "ring, jitter": (GEMM_FILE, [*GEMM, 'jitter={"seed": 3}', TIMING]),
    "fully connected, sequential": (GEMM_FILE, [*GEMM, "collectives=null", "method=sequential",
                                                "system.links.topology=fully-connected"]),
    "fully connected, T3": (GEMM_FILE, [*GEMM, "collectives=null", "method=t3-mca",
                                        "system.links.topology=fully-connected"]),
    "torus, sequential": (GEMM_FILE, [*GEMM, "collectives=null", "method=sequential", TORUS]),
    "switch, sequential": (GEMM_FILE, [*GEMM, "collectives=null", "method=sequential", SWITCH]),
    "switch, T3": (GEMM_FILE, [*GEMM, "collectives=null", "method=t3-mca", SWITCH]),
    "adding switch, loads": (GEMM_FILE, [*GEMM, ADDING, "method=load-reduce", "collectives.algorithm=auto", FUNCTIONAL,
                                         'workload.rival={"communication_units": 1, "gather": "multicast"}']),
    "merging switch, updates": (GEMM_FILE, [*GEMM, MERGING, "method=direct-update", "collectives.algorithm=auto",
                                            FUNCTIONAL, "workload.rival={}"]),
    "endpoint engines": (GEMM_FILE, [*GEMM, ENDPOINT, "method=endpoint", "collectives.algorithm=auto", FUNCTIONAL,
                                     "workload.rival={}"]),
    **{f"{op} alone": (COLLECTIVE_FILE, [f"workload.collective.op={op}"])
       for op in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")},
    "lost updates": (GEMM_FILE, [*GEMM, FUNCTIONAL, 'inject={"lose_updates": {"gpu": 2, "count": 3}}']),
    "a flipped bit": (GEMM_FILE, [*GEMM, FUNCTIONAL, 'inject={"flip_bit": {"gpu": 3, "access": 40, "bit": 7}}']),
    "rounded wrongly": (GEMM_FILE, [*GEMM, FUNCTIONAL, "operands=random", 'inject={"wrong_rounding": {"gpu": 1}}']),
}


def difference(one, other):
    return "\n".join(list(difflib.unified_diff(one.splitlines(), other.splitlines(), lineterm="", n=2))[:40])


def check_host(these, ranks):
    """The cost of windows is that of each rank."""
    host = these.host(ranks)
    if ranks == 1:
        assert "windows" not in host and "ranks" not in host, host
        return
    assert host["windows"] > 0 and len(host["ranks"]) == ranks, host
    assert all(rank["computing_s"] > 0 and rank["waiting_s"] > 0 and rank["sent_MB"] > 0 for rank in host["ranks"]), host


def check(name, run_file, settings, ranks, more=()):
    settings = [*settings, *more]
    with tempfile.TemporaryDirectory() as home:
        these = runs.Runs(T3VP, home, CONFIGS / run_file, settings)
        alone = these.run(None, "--in-process")
        assert (these.home / "None ranks" / "report.json").exists(), (name, alone.stderr)
        for count in ranks:
            done = these.run(count)
            assert done.returncode == alone.returncode, (name, count, done.stdout, done.stderr)
            assert done.stderr == alone.stderr, (name, count, done.stderr, alone.stderr)
            assert "Warning" not in done.stdout, (name, count, done.stdout)
            check_host(these, count)
            assert these.report(count) == these.report(None), \
                f"{name}: {count} ranks\n{difference(these.report(None), these.report(count))}"
    print(f"{name}: equal with {', '.join(map(str, ranks))} ranks")


def check_partitions():
    """The ranks of GPUs change nothing, and are not in the hash."""
    check("partition [[0, 2], [1, 3]]", GEMM_FILE, [*GEMM, "partition=[[0, 2], [1, 3]]", FUNCTIONAL], [2])
    check("partition [1, 0, 0, 1]", *CASES["nodes with NICs, packets lost"], [2], ["partition=[1, 0, 0, 1]"])
    with tempfile.TemporaryDirectory() as home:
        reports = [runs.Runs(T3VP, pathlib.Path(home) / str(i), CONFIGS / GEMM_FILE, [*GEMM, *more])
                   for i, more in enumerate(([], ["partition=[[3], [0, 1, 2]]"]))]
        for one in reports:
            one.home.mkdir()
            assert one.run(None).returncode == 0
        assert reports[0].report(None) == reports[1].report(None)


if __name__ == "__main__":
    runs.require_mpi(T3VP)
    runs.end_at_once()
    is_full = "--full" in sys.argv
    wanted = next((argument for argument in sys.argv[3:] if argument != "--full"), "")
    for number, (case, (file, changes)) in enumerate(CASES.items()):
        if wanted in case:
            check(case, file, changes, [1, 2, 3, 4] if is_full or wanted or number == 0 else [2 + number % 3])
    if not wanted:
        check_partitions()
