"""Who sends how many bytes to whom, as docs/models/collectives.md and docs/models/gpu-initiated.md say of each algorithm."""
from collections import Counter

from random_runs import kind_of, product
from tiles import ELEMENT_BYTES, Chunks


def messages_of(run, report):
    """Bytes by (sender, receiver), or None where no form is written down."""
    return FORMS.get(kind_of(run), lambda run, report: None)(run, report)


def ring(op, sizes):
    """Every GPU sends to the previous one alone. `sizes` are the chunks', by owner."""
    gpus, whole = len(sizes), sum(sizes)
    messages = Counter()
    for g in range(gpus):
        before = (g - 1) % gpus
        if op in ("reduce-scatter", "all-reduce"):  # all chunks but its own
            messages[g, before] += whole - sizes[g]
        if op in ("all-gather", "all-reduce"):      # all chunks but the receiver's
            messages[g, before] += whole - sizes[before]
        if op == "broadcast" and before != 0:
            messages[g, before] += whole
        if op == "all-to-all":  # what the GPUs behind and this one have for the GPUs in front
            for source in range(gpus):
                for target in range(gpus):
                    hops, passed = (source - target) % gpus, (source - g) % gpus
                    messages[g, before] += sizes[target] if passed < hops else 0
    return messages


def direct(op, sizes):
    gpus = range(len(sizes))
    messages = Counter()
    for one in gpus:
        for other in gpus:
            if one == other:
                continue
            if op in ("reduce-scatter", "all-reduce", "all-to-all"):
                messages[one, other] += sizes[other]
            if op in ("all-gather", "all-reduce"):
                messages[one, other] += sizes[one]
            if op == "broadcast" and one == 0:
                messages[one, other] += sum(sizes)
    return messages


def hierarchical(op, sizes, per_node):
    """First inside the nodes and then between GPUs of one place, or the other way round to hand out."""
    gpus, messages = len(sizes), Counter()
    for one in range(gpus):
        node, place = divmod(one, per_node)
        of_place = [g for g in range(gpus) if g % per_node == place]
        for other in range(gpus):
            if one == other:
                continue
            is_inside, is_same_place = other // per_node == node, other % per_node == place
            theirs = sum(sizes[g] for g in range(gpus) if g % per_node == other % per_node)
            if op in ("reduce-scatter", "all-reduce"):
                messages[one, other] += theirs if is_inside else sizes[other] if is_same_place else 0
            if op in ("all-gather", "all-reduce"):
                ours = sum(sizes[g] for g in of_place)
                messages[one, other] += ours if is_inside else sizes[one] if is_same_place else 0
            if op == "all-to-all":
                messages[one, other] += theirs if is_inside else per_node * sizes[other] if is_same_place else 0
            if op == "broadcast":
                is_handed_out = is_inside and place == 0
                is_first = one == 0 and is_same_place and not is_inside
                messages[one, other] += sum(sizes) if is_handed_out or is_first else 0
    return messages


def torus_rings(op, sizes, dimensions):
    """Rings of one dimension after the other. Only equal chunks have a form. Workgroups share both ways round, so that
    single links have none (closed_forms.py)."""
    gpus = len(sizes)
    if len(set(sizes)) != 1:
        return None
    messages, part = Counter(), sum(sizes)
    phases = 2 if op == "all-reduce" else 1
    stride = product(dimensions)
    for size in reversed(dimensions):
        stride //= size
        part //= size
        for g in range(gpus):
            position = g // stride % size
            after = g + ((position + 1) % size - position) * stride
            messages[g, after] += phases * part * (size - 1)
    return messages


def of_collective(run, _):
    collective, gpus, topology = run["workload"]["collective"], run["gpus"], run["system.links.topology"]
    element = ELEMENT_BYTES[collective["element"]]
    elements = collective["bytes"] // element
    sizes = [(elements // gpus + (g < elements % gpus)) * element for g in range(gpus)]
    op, algorithm = collective["op"], collective["algorithm"]
    if algorithm == "hierarchical":
        return hierarchical(op, sizes, topology["gpus_per_node"])
    if algorithm == "torus-rings":
        return torus_rings(op, sizes, topology["dimensions"])
    return {"ring": ring, "direct": direct}[algorithm](op, sizes)


def of_gemm(run, report):
    sizes = Chunks.of(run, report).sizes
    fused = run["workload"].get("fused", "ring-reduce-scatter")
    if run["method"] not in ("t3", "t3-mca") or fused == "ring-reduce-scatter":
        return ring("all-reduce", sizes)
    if fused == "direct-reduce-scatter":
        return direct("reduce-scatter", sizes) + ring("all-gather", sizes)
    if fused == "hierarchical-reduce-scatter":
        per_node = run["system.links.topology"]["gpus_per_node"]
        nodes = run["gpus"] // per_node
        by_owner = [sizes[g % per_node * nodes + g // per_node] for g in range(run["gpus"])]
        sums = hierarchical("reduce-scatter", by_owner, per_node)
        return sums + ring("all-gather", by_owner) if "between" in run["system.links.topology"] else sums
    return direct(fused, sizes)


def of_tables(run, _):
    """Each GPU has the owner's samples of all its tables, in fp32."""
    embedding, gpus = run["workload"]["embedding"], run["gpus"]
    if embedding["global_batch"] % gpus != 0:
        return None
    per_owner = embedding["global_batch"] // gpus * embedding["tables_per_gpu"] * embedding["dimension"] * 4
    return direct("all-to-all", [per_owner] * gpus)


def of_gemv(run, _):
    """Fused, owners have whole blocks of rows: only chunks that are equal by any rule have a form."""
    rows, gpus = run["workload"]["gemv"]["rows"], run["gpus"]
    if run["method"] == "fused" and rows % (gpus * 16) != 0:
        return None
    return direct("all-reduce", [(rows // gpus + (g < rows % gpus)) * 2 for g in range(gpus)])


def of_experts(run, _):
    experts, gpus = run["workload"]["experts"], run["gpus"]
    if experts["tokens"] % gpus != 0:
        return None
    return direct("all-to-all", [experts["tokens"] // gpus * experts["hidden"] * 2] * gpus)


FORMS = {"collective": of_collective, "gemm": of_gemm, "embedding": of_tables, "gemv": of_gemv, "experts": of_experts}
