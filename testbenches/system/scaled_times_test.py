"""Every simulated time comes from a key: with all times twice as long, every result takes twice as long.

  scaled_times_test.py T3VP SOURCE_DIRECTORY

Random runs are held against the same law (testbenches/laws). Here is a run of each kind.
"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

T3VP, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(ROOT / "testbenches/laws"))
from times import FACTOR, TOLERANCE, in_whole_picoseconds, slower  # noqa: E402

GEMM = {"gemm": {"m": 256, "n": 512, "k": 128}}
TABLES = {"global_batch": 64, "tables_per_gpu": 2, "dimension": 92, "pooling": 5, "rows": 10000}
MLP = {"bottom_layers": 1, "top_layers": 2, "width": 128}
TRANSFORMER = {"hidden": 256, "heads": 4, "sequence": 64, "batch": 1}


def collective(op, algorithm, size=65536):
    return {"collective": {"op": op, "algorithm": algorithm, "bytes": size, "element": "fp16"}}


def cases():
    """System, run file, and what differs from it."""
    for system in ("small-4", "t3-table1", "mi210-4", "h200-4"):
        for method in ("sequential", "t3", "t3-mca"):
            yield system, "gemm-rs-4gpu", {"method": method, "workload": GEMM}
        yield system, "all-reduce-4gpu", {"workload": collective("all-reduce", "ring")}
        yield system, "all-reduce-4gpu", {"workload": collective("broadcast", "ring")}
    for op in ("reduce-scatter", "all-gather", "all-to-all", "broadcast"):
        yield "mi210-4", "all-reduce-4gpu", {"workload": collective(op, "direct")}
    yield "torus-128", "all-to-all-torus", {"workload": collective("all-to-all", "direct", 1 << 17)}
    yield "torus-128", "all-to-all-torus", {"workload": collective("all-reduce", "torus-rings", 1 << 17)}
    tier = {"topology": "fully-connected", "bandwidth_GBps": 25, "link_latency_ns": 1000}
    nodes = {"kind": "nodes", "gpus_per_node": 2, "inside": {"topology": "ring"}, "between": tier}
    yield "mi210-4", "all-reduce-4gpu", {"workload": collective("all-reduce", "hierarchical"),
                                         "system.links.topology": nodes}
    for method in ("bulk", "zero-copy", "fused"):
        yield "mi210-4", "embedding-4gpu", {"method": method, "workload": {"embedding": TABLES}}
    for method in ("bulk", "fused"):
        yield "mi210-2nodes", "embedding-4gpu", {"method": method, "gpus": 2, "workload": {"embedding": TABLES}}
        yield "mi210-4", "gemv-4gpu", {"method": method, "workload": {"gemv": {"rows": 512, "columns": 512}}}
        yield "mi210-4", "experts-4gpu", {
            "method": method, "workload": {"experts": {"tokens": 512, "hidden": 256, "inner": 256}}}
    for method in ("bulk", "fused", "fused-backward"):
        yield "mi210-4", "dlrm-4gpu", {"method": method, "workload": {"embedding": TABLES, "mlp": MLP}}
    yield "t3-table1", "gemm-rs-4gpu", {
        "method": "sequential", "gpus": 1, "workload": {"layer": "training", "tp": 4, "transformer": TRANSFORMER}}
    for method in ("ideal-overlap", "ideal-rs-nmc"):
        yield "t3-table1", "gemm-rs-4gpu", {"method": method, "workload": GEMM}
    yield "small-4", "gemm-rs-4gpu", {"method": "t3", "workload": GEMM, "firmware": "riscv"}


def configuration_of(system, run, changes):
    settings = {"system": str(ROOT / f"configs/systems/{system}.json"), "data": "timing-only", **changes}
    command = [T3VP, "run", str(ROOT / f"configs/runs/{run}.json"), "--print-config"]
    for path, value in settings.items():
        command += ["--set", f"{path}={json.dumps(value) if isinstance(value, dict) else value}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return json.loads(done.stdout)


def times_of(configuration):
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder, "run.json")
        run.write_text(json.dumps(configuration))
        done = subprocess.run([T3VP, "run", run, "--out", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{json.dumps(configuration)}\n{done.stdout}")
        times = json.loads(pathlib.Path(folder, "report.json").read_text())["time_ns"]
        return {phase: time for phase, time in times.items() if time is not None}


def wrong_times(case):
    base = in_whole_picoseconds(configuration_of(*case))
    expected = {phase: FACTOR * time for phase, time in times_of(base).items()}
    found = times_of(slower(base))
    name = f"{case[0]}, {case[1]}, {json.dumps(case[2])}"
    return [f"{name}: {phase} takes {found.get(phase)} ns with all times x {FACTOR}, {time} expected"
            for phase, time in expected.items()
            if abs(found.get(phase, 0) - time) > TOLERANCE * time]


def main():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [text for texts in pool.map(wrong_times, list(cases())) for text in texts]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
