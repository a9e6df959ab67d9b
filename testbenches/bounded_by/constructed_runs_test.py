"""Runs in which one part of the critical path is known to take most of the time.

  constructed_runs_test.py SOURCE_DIRECTORY PROGRAM

Each case names the part that has at least 80% of the total, the runner-up and the runner-up's time by a closed form. A
second run is without the part. It gains, within 10%, what `t3vp explain` predicts of the first run: the part, limited
by the runner-up.
"""
from runs import Report, differ, end

# Ports, cache and DRAM that bound nothing.
WIDE = {"system.memory.channels": 128, "system.compute.port_bytes_per_cycle": 512,
        "system.cache.bank_bytes_per_cycle": 1024}
NIC = {"messages_per_us": 100, "io_latency_ns": 100, "io_GBps": 1000, "entry_fetches": 16,
       "payload_in_flight_KiB": 1024, "mtu_bytes": 4096, "wire_GBps": 0.5, "wire_latency_ns": 300,
       "writes_invalidate": True}
LAUNCH, LATENCY = "system.compute.launch_latency_ns", "system.links.link_latency_ns"
TINY_GATHER = {"gpus": 4, "method": "sequential",
               "workload": {"collective": {"op": "all-gather", "algorithm": "ring", "bytes": 4096}}}
GATHER = {"gpus": 4, "method": "sequential",
          "workload": {"collective": {"op": "all-gather", "algorithm": "ring", "bytes": 1 << 24}}}
ONE_ROUND = {"gpus": 1, "method": "ideal-overlap", "phases": ["gemm"],
             "workload": {"gemm": {"m": 1280, "n": 2048, "k": 2048, "tile": "128x256"}}}
FUSED = {"gpus": 4, "method": "t3", "collectives": {"algorithm": "ring"},
         "workload": {"gemm": {"m": 2048, "n": 2560, "k": 512, "tile": "128x256"}}}
GEMV = {"gpus": 2, "method": "bulk", "workload": {"gemv": {"rows": 65536, "columns": 4096}}}
TABLES = {"gpus": 2, "method": "bulk",
          "workload": {"embedding": {"global_batch": 256, "tables_per_gpu": 16, "dimension": 64, "pooling": 1,
                                     "rows": 1000}}}

# Part; run; its settings; settings without the part; the runner-up; its time in ns.
CASES = [
    # 80 tiles on 80 compute units.
    ("matrix", ONE_ROUND, {LAUNCH: 25000, **WIDE}, {"system.compute.matrix_flops_per_cycle": 1e6}, "launch", 25000),
    # Reduce-scatter and all-gather each move three of four parts of the output, 10 MiB, over each link at 75 GB/s.
    ("matrix", FUSED, {"system.compute.matrix_flops_per_cycle": 64},
     {"system.compute.matrix_flops_per_cycle": 65536}, "link bound", 2 * 0.75 * 2048 * 2560 * 2 / 75),
    # Two kernels.
    ("dram_bandwidth", GEMV, {LAUNCH: 20000, "system.compute.prefetch_slabs": 16, **WIDE, "system.memory.channels": 32},
     {"memory.clock_GHz": 100}, "launch", 2 * 20000),
    ("link_serialization", GATHER, {LAUNCH: 20000, "system.kernels.ring.blocks_in_flight": 8,
                                    "system.links.receive_buffer_KiB": 65536, **WIDE},
     {"system.links.bandwidth_GBps": 10000}, "launch", 20000),
    # 80 tiles on 80 compute units: each loads (128 + 256) x 2048 elements of 2 bytes, 1 byte a cycle. Two launches' worth
    # of the program stays.
    ("cache_bandwidth", ONE_ROUND, {LAUNCH: 100000, **WIDE, "system.compute.port_bytes_per_cycle": 1,
                                    "system.compute.matrix_flops_per_cycle": 1e6},
     {"system.compute.port_bytes_per_cycle": 512}, "launch", 100000),
    # 12 MiB over each link, in packets that wait for 8 KiB of room.
    ("link_credits", GATHER, {"system.kernels.ring.blocks_in_flight": 8, "system.links.receive_buffer_KiB": 8, **WIDE},
     {"system.links.receive_buffer_KiB": 65536}, "link_serialization", 0.75 * (1 << 24) / 75),
    # A chunk passes two engines behind the GEMM. Reduce-scatter and all-gather are as above.
    ("dma", FUSED, {"system.dma.latency_ns": 2000000}, {"system.dma.latency_ns": 1}, "link bound",
     2 * 0.75 * 2048 * 2560 * 2 / 75),
    ("link_latency", TINY_GATHER, {LAUNCH: 8000, LATENCY: 15000}, {LATENCY: 0}, "launch", 8000),
    # Three steps, and the barrier at the start.
    ("launch", TINY_GATHER, {LAUNCH: 50000, LATENCY: 2000}, {LAUNCH: 0}, "link_latency", 4 * 2000),
    # A kernel for each table, and the all-to-all.
    ("nic", TABLES, {"system.links.topology": {"kind": "nodes", "gpus_per_node": 1}, "system.nic": NIC, LAUNCH: 5000,
                     "system.processor.register_access_ns": 1},
     {"system.nic.wire_GBps": 10000}, "launch", 17 * 5000),
]


def spoken(part):
    return part.replace("_", " ").replace("dram", "DRAM").replace("nic", "NIC").replace("dma", "DMA")


def mistakes_of(part, run, settings, without_part, runner_up, runner_up_ns):
    with_part = Report("t3-table1", run, settings)
    name, predicted, limit = with_part.first_row()
    if name != spoken(part) or with_part.parts()[part] < 0.8 * with_part.total:
        yield f"found {name} first, with {with_part.parts()[part]} of {with_part.total} ns, expected 80% of {part}"
    if limit == runner_up:
        found = with_part.content["bounds"]["link_ns"]
    else:
        found = with_part.parts()[with_part.ranking()[1]]
        if with_part.ranking()[1] != runner_up:
            yield f"found the runner-up {with_part.ranking()[1]}, expected {runner_up}"
    if differ(found, runner_up_ns, 0.1):
        yield f"found {found} ns of the runner-up, expected {runner_up_ns}"
    gained = with_part.total - Report("t3-table1", run, {**settings, **without_part}).total
    if differ(predicted, gained, 0.1):
        yield f"found a predicted gain of {predicted} ns, limited by {limit}, expected {gained}"


end([f"{case[0]}, then {case[4]}: {mistake}" for case in CASES for mistake in mistakes_of(*case)])
