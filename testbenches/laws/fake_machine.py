"""A machine that obeys every law by construction, in microseconds, for the two runs of the checker's own tests.

Its figures are worked out by hand for equal chunks on a ring. A fault is a function that changes the report of a run.
"""
import copy
import pathlib
import time

from machine import FailedRun, IllegalRun, Machine, system_content, with_value

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = "configs/systems/small-4.json"
ALL_REDUCE = {
    "system": SMALL, "data": "timing-only", "gpus": 4, "system.links.topology": {"kind": "ring"},
    "method": "sequential",
    "workload": {"collective": {"op": "all-reduce", "algorithm": "ring", "bytes": 4096, "element": "fp16"}}}
FUSED = {
    "system": SMALL, "data": "timing-only", "gpus": 4, "system.links.topology": {"kind": "ring"}, "method": "t3",
    "workload": {"gemm": {"m": 256, "n": 256, "k": 64, "element": "fp16"}}}
LATENCIES = ("system.compute.launch_latency_ns", "system.links.link_latency_ns", "system.cache.latency_ns",
             "system.processor.register_access_ns")


class FakeMachine(Machine):
    def __init__(self, fault=None):
        super().__init__(ROOT / "build/release/t3vp", ROOT)
        self.fault = fault

    def report_of(self, run):
        if run["gpus"] > 8:
            raise IllegalRun("at most 8 GPUs")
        report = self.lawful_report(run)
        if self.fault:
            self.fault(run, report)
        if report["bounds"]["link_ns"] > report["time_ns"]["total"] and report.get("checks_bounds", True):
            raise FailedRun("beats a bound")
        return report

    def configuration_of(self, run):
        configuration = {"system": copy.deepcopy(system_content(self.root, run["system"]))}
        for path, value in run.items():
            if path != "system":
                configuration = with_value(configuration, path, value)
        return configuration

    def lawful_report(self, run):
        workload, gpus = dict(run["workload"]), run["gpus"]
        gemm = workload.get("gemm")
        size = gemm["m"] * gemm["n"] * 2 if gemm else workload["collective"]["bytes"]
        work = size * gemm["k"] if gemm else size
        if gemm:
            workload["gemm"] = {**gemm, "tile": "64x64"}
        carried = 2 * size * (gpus - 1) // gpus
        link_ns = carried / self.value_of(run, "system.links.bandwidth_GBps")
        latency = sum(self.value_of(run, path) for path in LATENCIES)
        total = latency + link_ns + work / self.value_of(run, "system.compute.clock_GHz") / 100
        return {
            "data": run["data"], "workload": workload, "host": {"wall_s": time.monotonic()},
            "time_ns": {"total": total}, "bounds": {"link_ns": link_ns},
            "links": [{"from": g, "to": (g + step) % gpus, "payload_bytes": carried if step == -1 else 0}
                      for g in range(gpus) for step in (-1, 1)],
            "dram_bytes": {"collective_read": 3 * size * (gpus - 1) // gpus,
                           "collective_write": 2 * size * (gpus - 1) // gpus, "setup": size, "gemm_write": size * (gpus - 1) // gpus,
                           "rs_write": size * (gpus - 1) // gpus, "rs_read": size * (gpus - 2) // gpus,
                           "ag_read": size * (gpus - 1) // gpus, "ag_write": size * (gpus - 1) // gpus},
            "statistics": [{"name": "gpu0.dram.resident", "value": 0 if run["data"] == "timing-only" else 1},
                           {"name": "gpu0.dram.reads", "value": 1}],
        }
