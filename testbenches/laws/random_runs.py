"""Random legal runs: systems, fabrics, workloads and methods, small enough for a fraction of a second each.

What t3vp knows better, such as how many tiles a GEMM has, is not repeated here: a run that it refuses is drawn again.
"""
SYSTEMS = ("small-4", "small-4", "small-4", "t3-table1", "t3-table1", "mi210-4", "mi210-4", "h200-4")
GPUS = (2, 2, 3, 4, 4, 5, 8)
TORI = ((2, 2), (3, 2), (2, 3), (4, 2), (2, 2, 2))
SUMS_AND_GATHERS = ("reduce-scatter", "all-gather", "all-reduce")
GEMM_METHODS = ("sequential", "t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc")


def random_run(random):
    """One run. Its topology is always written as an object, so that laws need not know the system file's."""
    if random.random() < 0.06:
        return nic_run(random)
    run = {"system": f"configs/systems/{random.choice(SYSTEMS)}.json", "data": "timing-only"}
    kind, workload = random.choice(WORKLOADS)
    run.update(links(random) if kind != "layer" else {"gpus": 1, "system.links.topology": {"kind": "ring"}})
    run.update(workload(random, run))
    return run


def links(random):
    """A fabric and the number of GPUs that it joins."""
    kind = random.choice(("ring", "ring", "fully-connected", "switch", "torus", "nodes"))
    topology, gpus = {"kind": kind}, random.choice(GPUS)
    settings = {}
    if kind == "switch":
        topology.update(latency_ns=random.choice((50, 100, 300)), reduction=random.random() < 0.5)
    elif kind == "torus":
        dimensions = random.choice(TORI)
        topology.update(dimensions=list(dimensions), channels=random.choice(("by-place", "by-distance")))
        gpus = product(dimensions)
    elif kind == "nodes":
        size, nodes = random.choice(((2, 2), (2, 3), (3, 2), (2, 4), (4, 2)))
        gpus = size * nodes
        topology.update(gpus_per_node=size, ports=random.choice(("gpu", "gpu", "node")),
                        inside={"topology": random.choice(("ring", "fully-connected"))},
                        between={"topology": random.choice(("ring", "fully-connected")),
                                 "bandwidth_GBps": random.choice((5, 12.5, 25)),
                                 "link_latency_ns": random.choice((500, 1000))})
    if random.random() < 0.3:
        settings["system.links.bandwidth_GBps"] = random.choice((10, 40, 100))
    if random.random() < 0.15:
        settings.update({"system.links.header_bytes": random.choice((16, 32)),
                         "system.links.max_payload_bytes": random.choice((128, 256))})
    return {"gpus": gpus, "system.links.topology": topology, **settings}


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def collective(random, run):
    topology, gpus = run["system.links.topology"], run["gpus"]
    algorithms = {"ring": SUMS_AND_GATHERS + ("all-to-all", "broadcast"),
                  "direct": SUMS_AND_GATHERS + ("all-to-all", "broadcast")}
    if topology["kind"] == "nodes":
        algorithms["hierarchical"] = SUMS_AND_GATHERS + ("all-to-all", "broadcast")
    if topology["kind"] == "torus":
        algorithms["torus-rings"] = SUMS_AND_GATHERS
    if topology.get("reduction"):
        algorithms["in-network"] = SUMS_AND_GATHERS + ("broadcast",)
    algorithm = random.choice(list(algorithms))
    element = random.choice(("fp16", "bf16", "fp32"))
    # Chunks of whole elements, mostly; sometimes ones that differ by an element.
    size = random.choice((256, 1024, 4096, 8192, 16384)) * gpus * 4
    if random.random() < 0.2:
        size += 4 * random.randrange(1, gpus)
    return {"method": "sequential",
            "workload": {"collective": {"op": random.choice(algorithms[algorithm]), "algorithm": algorithm,
                                        "bytes": size, "element": element}}}


def gemm(random, run):
    shape = {"m": random.choice((128, 192, 256, 320, 512)), "n": random.choice((128, 160, 256, 320, 512)),
             "k": random.choice((32, 64, 128, 256)), "element": random.choice(("fp16", "fp16", "fp32"))}
    method = random.choice(GEMM_METHODS)
    workload = {"gemm": shape}
    if method in ("t3", "t3-mca"):
        kinds = ["ring-reduce-scatter", "ring-reduce-scatter", "direct-reduce-scatter", "all-reduce", "all-to-all"]
        if run["system.links.topology"]["kind"] == "nodes":
            kinds.append("hierarchical-reduce-scatter")
        workload["fused"] = random.choice(kinds)
    return {"method": method, "workload": workload}


def tables(random, gpus):
    return {"global_batch": random.choice((1, 2, 4, 8)) * 4 * gpus, "tables_per_gpu": random.choice((1, 2, 4, 6)),
            "dimension": random.choice((32, 64, 96, 128)), "pooling": random.choice((1, 4, 8)), "rows": 10000}


def embedding(random, run):
    return {"method": random.choice(("bulk", "zero-copy", "fused")),
            "workload": {"embedding": tables(random, run["gpus"])}}


def dlrm(random, run):
    mlp = {"bottom_layers": 1, "top_layers": random.choice((1, 2)), "width": random.choice((64, 128))}
    return {"method": random.choice(("bulk", "fused", "fused-backward")),
            "workload": {"embedding": tables(random, run["gpus"]), "mlp": mlp}}


def gemv(random, _):
    shape = {"rows": random.choice((256, 512, 1024, 2048)), "columns": random.choice((128, 256, 512))}
    return {"method": random.choice(("bulk", "fused")), "workload": {"gemv": shape}}


def experts(random, run):
    shape = {"tokens": random.choice((16, 32, 64)) * run["gpus"], "hidden": random.choice((64, 128, 256)),
             "inner": random.choice((64, 128, 256))}
    return {"method": random.choice(("bulk", "fused")), "workload": {"experts": shape}}


def layer(random, _):
    transformer = {"hidden": random.choice((128, 256)), "heads": 4, "sequence": random.choice((32, 64)), "batch": 1}
    return {"method": "sequential",
            "workload": {"layer": random.choice(("training", "prompt")), "tp": random.choice((2, 4)),
                         "transformer": transformer}}


WORKLOADS = (("collective", collective), ("collective", collective), ("collective", collective), ("gemm", gemm),
             ("gemm", gemm), ("gemm", gemm), ("embedding", embedding), ("gemv", gemv), ("experts", experts),
             ("dlrm", dlrm), ("layer", layer))


def nic_run(random):
    """Nodes that NICs alone join: embedding tables, or a fused GEMM whose DMA engines post to them."""
    size, nodes = random.choice(((1, 2), (2, 2), (1, 4)))
    topology = {"kind": "nodes", "gpus_per_node": size}
    if size > 1:
        topology["inside"] = {"topology": "fully-connected"}
    run = {"system": "configs/systems/mi210-2nodes.json", "data": "timing-only", "gpus": size * nodes,
           "system.links.topology": topology}
    if random.random() < 0.7:
        return {**run, "method": random.choice(("bulk", "fused")),
                "workload": {"embedding": tables(random, size * nodes)}}
    method = random.choice(("sequential", "t3", "t3-mca"))
    workload = {"gemm": {"m": 256, "n": random.choice((128, 256)), "k": 64}}
    if method != "sequential":
        workload["fused"] = "hierarchical-reduce-scatter"
    return {**run, "method": method, "workload": workload}


def kind_of(run):
    """The workload of a run, by its key; a training pass of embedding tables is dlrm."""
    workload = run["workload"]
    if "mlp" in workload:
        return "dlrm"
    return next(kind for kind in ("collective", "gemm", "embedding", "gemv", "experts", "layer") if kind in workload)
