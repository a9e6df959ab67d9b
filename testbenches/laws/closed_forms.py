"""What links carry, by closed forms that share nothing with the platform's programs.

The figures of a run are a list of (text, expected, found). A run that no form covers has none.
"""
from messages import messages_of
from routes import Fabric, link_bytes


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
    """Of each chunk every GPU sends what it has and the owner the result, which all get (docs/models/collectives.md)."""
    collective, gpus = run["workload"]["collective"], run["gpus"]
    size = collective["bytes"]
    sums = size if collective["op"] in ("reduce-scatter", "all-reduce") else 0
    copies = size if collective["op"] in ("all-gather", "all-reduce", "broadcast") else 0
    up = sum(link["payload_bytes"] for link in report["links"] if str(link["to"]).startswith("switch"))
    down = sum(link["payload_bytes"] for link in report["links"] if str(link["from"]).startswith("switch"))
    return [("payload_bytes to the switch", sums * gpus + copies, up),
            ("payload_bytes from the switch", sums + copies * gpus, down)]
