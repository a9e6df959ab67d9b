"""Both runs of a pair: the second one is the first one with one change, a dictionary that a reader can understand."""
import times
from machine import with_value
from random_runs import kind_of

MORE, LESS = "more", "less"
# Key, the better direction, and whether a machine with r times the resource is at most r times as fast. What is a
# capacity has no such bound: a working set that just fits takes no traffic at all.
RESOURCES = (
    ("system.links.bandwidth_GBps", MORE, True),
    ("system.links.link_latency_ns", LESS, True),
    ("system.links.receive_buffer_KiB", MORE, False),
    ("system.links.header_bytes", LESS, True),
    ("system.links.topology.latency_ns", LESS, True),
    ("system.links.topology.between.bandwidth_GBps", MORE, True),
    ("system.links.topology.between.link_latency_ns", LESS, True),
    ("system.compute.compute_units", MORE, True),
    ("system.compute.clock_GHz", MORE, True),
    ("system.compute.matrix_flops_per_cycle", MORE, True),
    ("system.compute.vector_elements_per_cycle", MORE, True),
    ("system.compute.port_bytes_per_cycle", MORE, True),
    ("system.compute.launch_latency_ns", LESS, True),
    ("system.output_map.posted_KiB", MORE, False),
    ("system.cache.capacity_MiB", MORE, False),
    ("system.cache.banks", MORE, True),
    ("system.cache.clock_GHz", MORE, True),
    ("system.cache.bank_bytes_per_cycle", MORE, True),
    ("system.cache.latency_ns", LESS, True),
    ("system.memory.channels", MORE, True),
    ("system.memory.path_latency_ns", LESS, True),
    ("system.memory.dram.clock_GHz", MORE, True),
    ("system.memory.dram.timing.CCDWL", LESS, True),
    ("system.tracker.sets", MORE, False),
    ("system.tracker.ways", MORE, False),
    ("system.dma.latency_ns", LESS, True),
    ("system.dma.bytes_in_flight", MORE, False),
    ("system.processor.register_access_ns", LESS, True),
    ("system.kernels.ring.start_ns", LESS, True),
    ("system.kernels.ring.step_ns", LESS, True),
    ("system.nic.messages_per_us", MORE, True),
    ("system.nic.io_latency_ns", LESS, True),
    ("system.nic.io_GBps", MORE, True),
    ("system.nic.wire_GBps", MORE, True),
    ("system.nic.wire_latency_ns", LESS, True),
    ("system.host.post_ns", LESS, True),
)
# Of whole units there are whole multiples: from 5 to 6 compute units, 6 tiles take half the time.
WHOLE = ("compute_units", "banks", "channels", "sets", "ways", "CCDWL", "_KiB", "_bytes", "in_flight", "capacity_MiB")
SIZES = {
    "collective": ("collective.bytes",),
    "gemm": ("gemm.m", "gemm.n", "gemm.k"),
    "embedding": ("embedding.global_batch", "embedding.tables_per_gpu", "embedding.dimension", "embedding.pooling"),
    "gemv": ("gemv.rows", "gemv.columns"),
    "experts": ("experts.tokens", "experts.hidden", "experts.inner"),
    "dlrm": ("embedding.global_batch", "embedding.pooling", "mlp.top_layers", "mlp.width"),
    "layer": ("transformer.hidden", "transformer.sequence", "transformer.batch"),
}
QUANTA_NS = (1, 33, 500, 5000, 1000000)
SLOW = "compute.clock_GHz"
MODEL = "system.memory.model"


def random_variant(random, run, machine):
    """The run on another machine than the system file's, or of a larger size, or with loosely-timed memory, sometimes."""
    while random.random() < 0.4:
        resource = {**random_resource(random, run, machine), "ratio": random.choice((0.5, 0.5, 2, 4))}
        run = runs_of(run, resource, machine)[1]
    if random.random() < 0.1:
        run = runs_of(run, {"kind": "size", "path": random_size(random, run), "ratio": 4}, machine)[1]
    if random.random() < 0.15:
        run = {**run, MODEL: "loosely-timed"}
    return run


def random_resource(random, run, machine):
    there = [entry for entry in RESOURCES if machine.value_of(run, entry[0]) not in (None, 0)]
    path, direction, _ = random.choice(there)
    return {"kind": "resource", "path": path, "direction": direction, "ratio": random_ratio(random, path)}


def random_size(random, run):
    return "workload." + random.choice(SIZES[kind_of(run)])


def random_change(random, run, machine):
    """A change that this run can have. Resources are most of it, since they are many."""
    kinds = {"resource": 12, "size": 5, "quantum": 2, "data": 2, "times": 2, "model": 4}
    if can_be_mirrored(run):
        kinds["simulate"] = 8
    if gpus_are_alike(run):
        kinds["place"] = 6
    kind = random.choices(list(kinds), list(kinds.values()))[0]
    if kind == "resource":
        return random_resource(random, run, machine)
    if kind == "size":
        return {"kind": kind, "path": random_size(random, run), "ratio": 2}
    if kind == "quantum":
        first, second = random.sample(QUANTA_NS, 2)
        return {"kind": kind, "first_ns": first, "second_ns": second}
    if kind == "place":
        first, second = random.sample(range(run["gpus"]), 2)
        return {"kind": kind, "first": first, "second": second}
    return {"kind": kind}


def random_ratio(random, path):
    return random.choice((2, 4) if path.endswith(WHOLE) else (1.1, 1.25, 1.5, 2, 4))


def runs_of(run, change, machine):
    """Both runs of a pair. The second one has the better machine, the larger work, or is the same by other means."""
    kind = change["kind"]
    if kind == "resource":
        value, ratio = machine.value_of(run, change["path"]), change["ratio"]
        better = value * ratio if change["direction"] == MORE else value / ratio
        is_whole = isinstance(value, int) and better == int(better)
        return run, with_value(run, change["path"], int(better) if is_whole else round(better, 6))
    if kind == "size":
        size = machine.value_of(run, change["path"])
        return run, with_value(run, change["path"], size * change["ratio"])
    if kind == "quantum":
        return {**run, "quantum_ns": change["first_ns"]}, {**run, "quantum_ns": change["second_ns"]}
    if kind == "data":
        return run, {**run, "data": "functional"}
    if kind == "simulate":
        return run, {**run, "simulate": "mirror"}
    if kind == "model":
        return {**run, MODEL: "exact"}, {**run, MODEL: "loosely-timed"}
    if kind == "times":
        base = times.in_whole_picoseconds(machine.configuration_of(run))
        for _ in range(2):  # intervals that are derived, such as a share of a cycle, are whole picoseconds then
            base = times.slower(base)
        return base, times.slower(base)
    clock = machine.value_of(run, "system." + SLOW)
    return tuple({**run, "system.gpus": [{"gpu": change[place], "set": {SLOW: clock / 2}}]}
                 for place in ("first", "second"))


def can_be_mirrored(run):
    """Where one GPU may stand for all, as docs/models/decisions.md says. t3vp refuses what has unequal chunks."""
    topology, workload = run["system.links.topology"], run["workload"]
    if kind_of(run) == "gemm":
        return topology["kind"] == "ring" and workload.get("fused", "ring-reduce-scatter") == "ring-reduce-scatter"
    if topology.get("channels") != "by-distance":
        return False
    if kind_of(run) == "collective":
        collective = workload["collective"]
        return collective["algorithm"] in ("direct", "torus-rings") and collective["op"] != "broadcast"
    return kind_of(run) == "embedding" and run["method"] != "zero-copy"


def gpus_are_alike(run):
    """Where any GPU may take another's place: none is a root, a first one of a node or at the edge of a half. Laws ask
    whether chunks are equal."""
    if run["gpus"] == 1 or run["system.links.topology"]["kind"] not in ("ring", "fully-connected", "switch"):
        return False
    workload, kind = run["workload"], kind_of(run)
    if kind == "collective":
        collective = workload["collective"]
        return collective["op"] != "broadcast" and collective["bytes"] % (run["gpus"] * 4) == 0
    return kind in ("gemm", "experts", "gemv")
