"""Compares docs/reference/report.md with reports of unlike runs, and with the statistics that the program writes.

  report_page.py SOURCE_DIRECTORY BINARY_DIRECTORY    the comparison
  report_page.py SOURCE_DIRECTORY --write             writes the page's table of statistics

A run has no path that the page does not list, and the page lists no path that no run has.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
PAGE = SOURCE / "docs/reference/report.md"
MARK = "<!-- statistics: from testbenches/system/statistics.json -->\n"
BINARY = pathlib.Path(sys.argv[2]).resolve()
PROGRAM = BINARY / "t3vp"
LIBRARY = BINARY / "testbenches/software/guests.so"
GEMM = {"gemm": {"m": 256, "n": 320, "k": 64}}
TABLES = {"embedding": {"global_batch": 12, "tables_per_gpu": 4, "dimension": 32, "pooling": 4, "rows": 50}}
NIC = {"messages_per_us": 100, "io_latency_ns": 100, "io_GBps": 8, "entry_fetches": 16, "payload_in_flight_KiB": 16,
       "mtu_bytes": 1024, "wire_GBps": 4, "wire_latency_ns": 300, "writes_invalidate": True}
APART = ["--set", 'system.links.topology={"kind": "nodes", "gpus_per_node": 1}', "--set", "system.nic=" + json.dumps(NIC)]
POWER = {"limit_W": 700, "idle_W": 100, "window_us": 100, "matrix_pJ_per_flop": 1, "memory_pJ_per_byte": 60,
         "energy_clock_GHz": 1}
JOINED = ["--set", "system.links.topology=fully-connected"]

# Only under mpirun; testbenches/partition checks them.
OF_SEVERAL_PROCESSES = {"host.windows", "host.ranks[].computing_s", "host.ranks[].sent_MB", "host.ranks[].waiting_s"}

# Keys of the run file, and options.
RUNS = [
    ({"method": "t3-mca", "workload": GEMM, "check": "all"}, []),
    ({"method": "sequential", "workload": GEMM, "data": "functional", "program": "sequential"}, []),
    ({"method": "ideal-overlap", "workload": GEMM, "statistics": "detailed"}, []),
    ({"method": "t3", "workload": GEMM}, ["--replicates", "2"]),
    ({"method": "t3", "workload": GEMM}, ["--fork-at", "1", "--variants", "variants.json"]),
    ({"method": "t3", "workload": GEMM}, ["--set", "system.memory.model=loosely-timed"]),
    ({"method": "t3", "workload": GEMM}, ["--set", "system.power=" + json.dumps(POWER)]),
    ({"method": "t3", "workload": GEMM, "inject": {"dma_map_updates": 3}}, []),
    ({"method": "t3", "workload": GEMM, "data": "functional", "inject": {"lose_updates": {"gpu": 1, "count": 1}}}, []),
    ({"method": "bulk", "workload": TABLES}, APART),
    ({"method": "bulk", "workload": TABLES, "inject": {"drop_packets": {"gpu": 1, "count": 1}}}, APART),
    ({"method": "zero-copy", "workload": TABLES}, JOINED),
    ({"method": "bulk", "workload": {**TABLES, "mlp": {"bottom_layers": 2, "top_layers": 2, "width": 64}}}, JOINED),
    ({"method": "fused", "workload": {"gemv": {"rows": 200, "columns": 130}}}, JOINED),
    ({"method": "bulk", "workload": {"gemv": {"rows": 200, "columns": 130}}}, JOINED),
    ({"method": "bulk", "workload": {"experts": {"tokens": 300, "hidden": 90, "inner": 40}}}, JOINED),
    ({"method": "sequential", "workload": {"collective": {"op": "all-reduce", "bytes": 20000}}}, []),
    ({"method": "sequential", "gpus": None,
      "workload": {"layer": "training", "attention": "fused", "tp": 2,
                   "transformer": {"hidden": 64, "heads": 4, "sequence": 48, "batch": 2, "element": "fp16"}}}, []),
    ({"program": f"{LIBRARY}:asking", "arguments": {"count": 1, "share": 0.25, "on": True, "text": "a b"}}, []),
    ({"method": "t3", "workload": GEMM},
     ["--set", "system.tracker.strict=true", "--set", "system.tracker.sets=1", "--set", "system.tracker.ways=1"]),
]


def statistics():
    return json.loads((SOURCE / "testbenches/system/statistics.json").read_text(encoding="utf-8"))


def statistics_table():
    rows = [f"| `gpuN.{name}` | {unit} | {text} |" for name, (unit, text) in statistics().items()]
    return "\n".join(["| Path | Unit | Meaning |", "| --- | --- | --- |", *rows]) + "\n"


def page_with_table(page):
    before, after = page.split(MARK)
    return f"{before}{MARK}\n{statistics_table()}\n{after[after.index('## '):]}"


def leaves(value, path=""):
    """Paths of values that are no lists or objects."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from leaves(member, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for element in value:
            yield from leaves(element, f"{path}[]")
    else:
        yield path


def paths_of(report):
    """The paths as the page writes them."""
    for statistic in report.pop("statistics"):
        name = re.sub(r"(gpu|channel|bank)\d+", r"\1N", statistic["name"])
        yield re.sub(r"\.(compute|communication)\.(requests|latency|queueing)$", r".STREAM.\2", name)
    for path in leaves(report):
        path = re.sub(r"^workload\..*", "workload.KEY", path)
        path = re.sub(r"^arguments\..*", "arguments.NAME", path)
        path = re.sub(r"^algorithms\..*", "algorithms.COLLECTIVE", path)
        path = re.sub(r"^bounded_by\.\w+", "bounded_by.NAME", path)
        yield re.sub(r"^replicates\.time_ns\.\w+", "replicates.time_ns.NAME", path)


def report_of(number, run, options, home):
    """A run that fails has a report as well."""
    content = {"system": str(SOURCE / "configs/systems/small-4.json"), "gpus": 4, **run}
    file, out = home / f"run{number}.json", home / str(number)
    file.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))
    (home / "variants.json").write_text(json.dumps({"variants": [{"name": "later", "set": {"arbitration": "mca"}}]}))
    done = subprocess.run([PROGRAM, "run", file, "--out", out, *options], capture_output=True, text=True, check=False, cwd=home)
    if "--fork-at" in options:
        out = out / "variants/later"
    if not (out / "report.json").exists():
        sys.exit(f"run {number} has no report: {done.stderr}")
    return json.loads((out / "report.json").read_text())


def main():
    page = PAGE.read_text(encoding="utf-8")
    if sys.argv[2] == "--write":
        PAGE.write_text(page_with_table(page), encoding="utf-8")
        return
    listed = set(re.findall(r"^\| `([^`]+)` \|.*\|.*\|$", page.split("## Names in experiments")[0], re.MULTILINE))
    written = {f"gpuN.{name}" for name in statistics()}
    with tempfile.TemporaryDirectory() as home:
        for number, (run, options) in enumerate(RUNS):
            written.update(paths_of(report_of(number, run, options, pathlib.Path(home))))
    written.update(OF_SEVERAL_PROCESSES)
    faults = [f"{path}: in a report, not in docs/reference/report.md" for path in sorted(written - listed)]
    faults += [f"{path}: in docs/reference/report.md, in no report" for path in sorted(listed - written)]
    if page != page_with_table(page):
        faults.append("docs/reference/report.md: the statistics differ from statistics.json; build the target report_reference")
    if faults:
        sys.exit("\n".join(faults))


main()
