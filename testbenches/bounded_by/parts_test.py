"""What `bounded_by` of a report promises, in unlike runs.

  parts_test.py SOURCE_DIRECTORY PROGRAM [LIBRARY]

Parts are not negative and add up to each time within 0.1%. They do not depend on the quantum. Isolated phases make up
their total. The one GPU of mirror mode gives the parts of all GPUs within 1% of the total. LIBRARY is of guests' own
programs.
"""
import sys

from runs import Report, differ, end

GEMM = {"gemm": {"m": 300, "n": 320, "k": 64}}
TABLES = {"embedding": {"global_batch": 12, "tables_per_gpu": 4, "dimension": 32, "pooling": 4, "rows": 50}}
NIC = {"messages_per_us": 100, "io_latency_ns": 100, "io_GBps": 8, "entry_fetches": 16, "payload_in_flight_KiB": 16,
       "mtu_bytes": 1024, "wire_GBps": 4, "wire_latency_ns": 300, "writes_invalidate": True}
APART = {"system.links.topology": {"kind": "nodes", "gpus_per_node": 1}, "system.nic": NIC}
JOINED = {"system.links.topology": "fully-connected"}
METHODS = ["sequential", "t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc"]
RUNS = [
    *[({"method": method, "workload": GEMM}, {}) for method in METHODS],
    ({"method": "t3", "workload": GEMM, "data": "functional"}, {"firmware": "riscv"}),
    ({"method": "t3", "workload": GEMM}, {"system.tracker.sets": 1, "system.tracker.ways": 1}),
    *[({"method": method, "workload": TABLES}, settings)
      for method, settings in (("bulk", APART), ("bulk", JOINED), ("fused", APART), ("fused", JOINED), ("zero-copy", JOINED))],
    ({"method": "bulk", "workload": {**TABLES, "mlp": {"bottom_layers": 2, "top_layers": 2, "width": 64}}}, JOINED),
    *[({"method": method, "workload": {"gemv": {"rows": 200, "columns": 130}}}, JOINED) for method in ("bulk", "fused")],
    *[({"method": method, "workload": {"experts": {"tokens": 300, "hidden": 90, "inner": 40}}}, JOINED)
      for method in ("bulk", "fused")],
    *[({"method": "sequential", "workload": {"collective": {"op": op, "bytes": 20000}}}, {})
      for op in ("all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast")],
    ({"method": "sequential", "gpus": 1,
      "workload": {"layer": "training", "attention": "fused", "tp": 2,
                   "transformer": {"hidden": 64, "heads": 4, "sequence": 48, "batch": 2, "element": "fp16"}}}, {}),
]


def sums(report):
    """Each time is that of its parts."""
    for phase, parts in report.content["bounded_by"].items():
        time = report.content["time_ns"][phase]
        if min(parts.values()) < 0 or differ(sum(parts.values()), time, 0.001):
            yield f"{phase}: found parts {parts}, which add up to {sum(parts.values())}, expected {time}"
    missing = [phase for phase, time in report.content["time_ns"].items()
               if time and not phase.startswith("exposed") and phase not in ("setup", "zeroing", "exposed_communication")
               and phase not in report.content["bounded_by"]]
    if missing:
        yield f"found no parts of {missing}"
    if len(report.explanation) != 10 or max(map(len, report.explanation[1:])) > 110:
        yield f"found an explanation of {len(report.explanation)} lines, expected 10"


def composed(report):
    """The total of isolated phases is the longer one of the first two, and the last one."""
    if not report.content.get("isolated_phases"):
        return
    times = report.content["time_ns"]
    longer = max(("gemm", "reduce_scatter"), key=times.get)
    for part, ns in report.parts().items():
        if differ(ns, report.parts(longer)[part] + report.parts("all_gather")[part], 1e-9):
            yield f"found {ns} ns of {part}, expected the sum of {longer} and all_gather"


def mirrored(method):
    run = {"gpus": 4, "method": method, "collectives": {"algorithm": "ring"},
           "workload": {"gemm": {"m": 2048, "n": 1024, "k": 512}}}
    every, one = (Report("t3-table1", {**run, "simulate": simulate}) for simulate in ("all", "mirror"))
    for part, ns in every.parts().items():
        if abs(one.parts()[part] - ns) > 0.01 * every.total:
            yield f"{method}: found {one.parts()[part]} ns of {part} in mirror mode, expected {ns}"


mistakes = []
for run, settings in RUNS:
    report = Report("small-4", {"gpus": 4, **run}, settings)
    mistakes += [f"{run}: {mistake}" for check in (sums, composed) for mistake in check(report)]
    finest = Report("small-4", {"gpus": 4, **run}, {**settings, "quantum_ns": 1})
    if finest.content["bounded_by"] != report.content["bounded_by"]:
        mistakes.append(f"{run}: found other parts with a quantum of 1 ns")
if len(sys.argv) > 3:
    own = Report("small-4", {"gpus": 3, "program": f"{sys.argv[3]}:twice", "data": "functional"})
    mistakes += sums(own)
end(mistakes + [mistake for method in METHODS for mistake in mirrored(method)])
