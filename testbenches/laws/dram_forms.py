"""What memories read and write by class, by closed forms that share nothing with the platform's programs.

Forms count chunks, of which there are as many as GPUs, in the mean of all GPUs. What peers bring, and updates, pass the
cache by and are written at once. What a GPU stores by itself stays in its cache, where it finds it again.
"""
from closed_forms import is_joined
from random_runs import kind_of
from tiles import ELEMENT_BYTES, Chunks

CACHE_SHARE = 8  # a cache this many times as large as the buffer holds all that a collective reads and writes


def dram_figures(run, report, cache_bytes):
    if run.get("simulate") == "mirror" or not is_joined(run):
        return []
    if kind_of(run) == "collective":
        return figures(run, report, of_collective(run), collective_bytes(run, cache_bytes))
    if kind_of(run) == "gemm":
        chunks = Chunks.of(run, report)
        return figures(run, report, of_gemm(run), chunks.bytes if chunks.are_whole_accesses else None)
    return []


def figures(run, report, form, size):
    if size is None or form is None:
        return []
    found = report["dram_bytes"]
    return [(f"dram_bytes.{name} x gpus", chunks * size, round(found.get(name, 0) * run["gpus"]))
            for name, chunks in form.items()]


def collective_bytes(run, cache_bytes):
    """Of the buffer, when chunks are equal, of whole accesses, and fit into the cache."""
    collective = run["workload"]["collective"]
    chunk = collective["bytes"] / run["gpus"]
    is_whole = chunk % 32 == 0 and chunk % ELEMENT_BYTES[collective["element"]] == 0
    return collective["bytes"] if is_whole and CACHE_SHARE * collective["bytes"] <= cache_bytes else None


def of_collective(run):
    """A reduce-scatter reads its whole input and what has come of others. Its sum is in the cache when an all-gather
    follows. What is handed on is read once, and not what only stays."""
    collective, n, topology = run["workload"]["collective"], run["gpus"], run["system.links.topology"]
    op, algorithm = collective["op"], collective["algorithm"]
    nodes = n // topology["gpus_per_node"] if algorithm == "hierarchical" else 1
    if algorithm == "in-network":  # the switch asks all GPUs for each chunk, and copies to all
        reads, writes = {"reduce-scatter": (n, 0), "all-gather": (1, n), "all-reduce": (n, n), "broadcast": (1, n)}[op]
        return {"collective_read": reads, "collective_write": writes}
    gathered = {"ring": n - 1, "direct": 1, "hierarchical": nodes,
                "torus-rings": n - n // topology.get("dimensions", [n])[-1]}[algorithm]
    relayed = {"ring": n * (n - 1) // 2 - (n - 1), "direct": 0,
               "hierarchical": (nodes - 1) * (n // nodes - 1)}.get(algorithm, 0)
    reads, writes = {
        "reduce-scatter": (2 * n - 1, n - 1),
        "all-gather": (gathered, n - 1),
        "all-reduce": (2 * n - 1 + gathered - 1, 2 * (n - 1)),
        "all-to-all": (n + relayed, n - 1 + relayed),
        "broadcast": (gathered, n - 1),
    }[op]
    return {"collective_read": reads, "collective_write": writes}


def of_gemm(run):
    """Outputs that no cache holds: of method sequential it does."""
    n = run["gpus"]
    gather = {"ag_read": n - 1, "ag_write": n - 1}
    if run["method"] == "ideal-overlap":
        return {"gemm_write": n, "rs_read": 2 * n - 1, "rs_write": n, **gather}
    if run["method"] == "ideal-rs-nmc":
        return {"gemm_write": n, "rs_read": n - 1, "rs_write": n - 1, **gather}
    return of_fused(run, n, gather) if run["method"] in ("t3", "t3-mca") else None


def of_fused(run, n, gather):
    kind = run["workload"].get("fused", "ring-reduce-scatter")
    if kind == "ring-reduce-scatter":
        return {"setup": n, "gemm_write": n - 1, "rs_write": n - 1, "rs_read": n - 2, **gather}
    if kind == "direct-reduce-scatter":
        return {"gemm_write": 1, "rs_write": n - 1, "rs_read": 0, **gather}
    if kind == "all-reduce":
        return {"gemm_write": 1, "rs_write": n - 1, "rs_read": 0, "ag_read": 1, "ag_write": n - 1}
    if kind == "all-to-all":
        return {"gemm_write": n, "rs_write": 0, "rs_read": 0}
    size = run["system.links.topology"]["gpus_per_node"]
    nodes = n // size
    return {"gemm_write": nodes, "rs_write": nodes * (size - 1) + nodes - 1, "rs_read": nodes - 1}
