"""A violation in fewer settings and smaller sizes, as long as the same law fails."""
from machine import IllegalRun, with_value
from random_runs import kind_of, product

ATTEMPTS = 60
REQUIRED = ("system", "data", "gpus", "system.links.topology", "method", "workload")


def shrunk(judge, run, change, violation):
    """The smallest run that was found within ATTEMPTS, with its violation."""
    attempts, tried = 0, set()
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in candidates(run):
            if repr(candidate) in tried or attempts >= ATTEMPTS:
                continue
            tried.add(repr(candidate))
            attempts += 1
            try:
                found = judge.outcome(candidate, change).violation
            except (IllegalRun, TypeError):  # a place or a key that the smaller run no longer has
                continue
            if found and found.law == violation.law:
                run, violation, is_smaller = candidate, found, True
                break
    return run, violation


def candidates(run):
    for path in run:
        if path not in REQUIRED:
            yield {key: value for key, value in run.items() if key != path}
    if run["system"] != "configs/systems/small-4.json" and kind_of(run) != "embedding":
        yield {**run, "system": "configs/systems/small-4.json"}
    yield from smaller_fabrics(run)
    for path, value in sizes(run["workload"], "workload"):
        if value > 1:
            yield with_value(run, path, value // 2)


def smaller_fabrics(run):
    topology = run["system.links.topology"]
    if topology["kind"] == "torus":
        if topology["dimensions"] != [2, 2]:
            smaller = [2] * len(topology["dimensions"])
            yield {**run, "gpus": product(smaller), "system.links.topology": {**topology, "dimensions": smaller}}
    elif topology["kind"] == "nodes":
        if topology["gpus_per_node"] > 2:
            yield {**run, "gpus": run["gpus"] // topology["gpus_per_node"] * 2,
                   "system.links.topology": {**topology, "gpus_per_node": 2}}
        elif run["gpus"] > 2 * topology["gpus_per_node"]:
            yield {**run, "gpus": 2 * topology["gpus_per_node"]}
    else:
        for gpus in range(2, run["gpus"]):
            yield {**run, "gpus": gpus}
    for key in ("latency_ns", "reduction"):
        if topology.get(key):
            yield {**run, "system.links.topology": {k: v for k, v in topology.items() if k != key}}


def sizes(value, path):
    """All numbers below a path."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from sizes(child, f"{path}.{key}")
    elif isinstance(value, int) and not isinstance(value, bool):
        yield path, value
