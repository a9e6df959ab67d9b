"""What links and memories carry, by closed forms that share nothing with the platform's programs.

A form is a list of (text, expected, found). A run that a form does not cover has none.
"""
from messages import messages_of
from random_runs import kind_of
from routes import Fabric, link_bytes
from tiles import Chunks


def payload_figures(run, report):
    if run.get("simulate") == "mirror" or not is_joined(run):
        return []
    if run["workload"].get("collective", {}).get("algorithm") == "in-network":
        return in_network_figures(run, report)
    messages = messages_of(run, report)
    if messages is None:
        return []
    links, together = link_bytes(Fabric(run["system.links.topology"], run["gpus"]), messages)
    found = {(link["from"], link["to"]): 0 for link in report["links"]}
    for link in report["links"]:
        found[link["from"], link["to"]] += link["payload_bytes"]
    figures = [("payload_bytes of all links", together, sum(found.values()))]
    goes_both_ways = run["workload"].get("collective", {}).get("algorithm") == "torus-rings"
    if links is not None and not goes_both_ways:
        figures += [(f"payload_bytes from {one} to {other}", links.get((one, other), 0), size)
                    for (one, other), size in found.items()]
    return figures


def is_joined(run):
    topology = run["system.links.topology"]
    return run["gpus"] > 1 and (topology["kind"] != "nodes" or "between" in topology)


def in_network_figures(run, report):
    """Of each chunk every GPU sends what it has and the owner the result, which all get (docs/collectives.md)."""
    collective, gpus = run["workload"]["collective"], run["gpus"]
    size = collective["bytes"]
    sums = size if collective["op"] in ("reduce-scatter", "all-reduce") else 0
    copies = size if collective["op"] in ("all-gather", "all-reduce", "broadcast") else 0
    up = sum(link["payload_bytes"] for link in report["links"] if str(link["to"]).startswith("switch"))
    down = sum(link["payload_bytes"] for link in report["links"] if str(link["from"]).startswith("switch"))
    return [("payload_bytes to the switch", sums * gpus + copies, up),
            ("payload_bytes from the switch", sums + copies * gpus, down)]


def dram_figures(run, report):
    """Bytes of all GPUs in outputs that no cache holds and whose rows are whole accesses of 32 bytes."""
    if kind_of(run) != "gemm" or run.get("simulate") == "mirror" or not is_joined(run):
        return []
    chunks = Chunks.of(run, report)
    if not chunks.are_whole_accesses:
        return []
    n, whole = run["gpus"], chunks.bytes
    parts = DRAM_OF_METHOD.get(run["method"], lambda run: None)(run)
    if parts is None:
        return []
    found = report["dram_bytes"]
    return [(f"dram_bytes.{name} x gpus", share(n) * whole, round(found[name] * n)) for name, share in parts.items()]


def fused_parts(run):
    kind = run["workload"].get("fused", "ring-reduce-scatter")
    gather = {"ag_read": lambda n: n - 1, "ag_write": lambda n: n - 1}
    if kind == "ring-reduce-scatter":
        return {"gemm_write": lambda n: n - 1, "rs_write": lambda n: n - 1, "rs_read": lambda n: n - 2,
                "setup": lambda n: n, **gather}
    if kind == "direct-reduce-scatter":
        return {"gemm_write": lambda n: 1, "rs_write": lambda n: n - 1, "rs_read": lambda n: 0, **gather}
    if kind == "all-reduce":
        return {"gemm_write": lambda n: 1, "rs_write": lambda n: n - 1, "rs_read": lambda n: 0,
                "ag_read": lambda n: 1, "ag_write": lambda n: n - 1}
    if kind == "all-to-all":
        return {"gemm_write": lambda n: n, "rs_write": lambda n: 0, "rs_read": lambda n: 0}
    size = run["system.links.topology"]["gpus_per_node"]
    nodes = run["gpus"] // size
    return {"gemm_write": lambda n: nodes, "rs_write": lambda n: nodes * (size - 1) + nodes - 1,
            "rs_read": lambda n: nodes - 1}


def isolated_parts(reads, writes):
    return lambda run: {"gemm_write": lambda n: n, "rs_read": reads, "rs_write": writes, "ag_read": lambda n: n - 1,
                        "ag_write": lambda n: n - 1}


DRAM_OF_METHOD = {
    "t3": fused_parts,
    "t3-mca": fused_parts,
    "ideal-overlap": isolated_parts(lambda n: 2 * n - 1, lambda n: n),
    "ideal-rs-nmc": isolated_parts(lambda n: n - 1, lambda n: n - 1),
}
