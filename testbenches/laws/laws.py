"""The laws. Each says for which changes it holds, and what is wrong with two reports."""
import dataclasses

import closed_forms
import dram_forms
import times
from changes import RESOURCES
from random_runs import kind_of
from tiles import Chunks, tokens_are_whole_tiles

BOUNDED = {path for path, _, is_bounded in RESOURCES if is_bounded}


@dataclasses.dataclass
class Violation:
    law: str
    text: str      # what is compared
    expected: float
    found: float
    excess: float  # by which share the figure is off


def total(report):
    return report["time_ns"]["total"]


def beyond_latency(change, first, second):
    """Difference of two times less a route's latency, by which GPUs leave a barrier behind each other, as a share."""
    return max(0, abs(total(second) - total(first)) - change.get("latency_ns", 0)) / total(first)


def payload(report):
    return sum(link["payload_bytes"] for link in report["links"])


def share_off(expected, found):
    return abs(found - expected) / max(1, expected)


class Law:
    kinds = ()          # of changes; a law of single runs has none, and is asked of every pair's first run
    has_spread = False  # times that differ by chance: medians of several runs decide
    tolerance = 0       # share of the figure

    def violation(self, run, change, first, second):
        raise NotImplementedError

    def exceeded(self, text, expected, found, excess):
        return Violation(self.name, text, expected, found, excess)


class NotSlower(Law):
    name, kinds, has_spread = "not-slower", ("resource",), True
    tolerance = 0.01
    says = "A machine with more of one resource, or less of one latency, does not take longer."
    why = "Most times move by less than 1% with jitter. Where they move by more, the spread decides."

    def violation(self, run, change, first, second):
        excess = total(second) / total(first) - 1
        if excess > self.tolerance:
            return self.exceeded("time_ns.total of the better machine is at most the other's", total(first),
                                 total(second), excess)
        return None


class SpeedupBounded(Law):
    name, kinds, has_spread = "speedup-bounded", ("resource",), True
    tolerance = 0.01
    says = "A machine with r times one rate, or 1/r of one latency, is at most r times as fast."
    why = ("What takes all of the time gains the ratio, everything else less. Capacities have no such bound: a "
           "working set that just fits has no traffic. Compute units, channels and banks are multiplied by whole "
           "numbers, since five of six tiles on five units leave one for a second wave.")

    def violation(self, run, change, first, second):
        if change["path"] not in BOUNDED:
            return None
        excess = total(first) / total(second) / change["ratio"] - 1
        if excess > self.tolerance:
            return self.exceeded(f"time_ns.total is at least that of the slower machine / {change['ratio']}",
                                 total(first) / change["ratio"], total(second), excess)
        return None


class SamePayload(Law):
    name, kinds = "same-payload", ("resource", "quantum", "data", "place", "model")
    says = "Payload on all links together is the algorithm's, whatever the machine."
    why = "Algorithms choose by the run, not by the speed of the machine."

    def violation(self, run, change, first, second):
        if payload(first) != payload(second):
            return self.exceeded("links' payload_bytes together", payload(first), payload(second),
                                 share_off(payload(first), payload(second)))
        return None


class LargerNotFaster(Law):
    name, kinds, has_spread = "larger-not-faster", ("size",), True
    tolerance = 0.01
    says = "Twice the work in one dimension does not take less time."
    why = "As for `not-slower`. Sizes are doubled, which keeps rows aligned as they were."

    def violation(self, run, change, first, second):
        excess = total(first) / total(second) - 1
        if excess > self.tolerance:
            return self.exceeded("time_ns.total of the larger work is at least the smaller's", total(first),
                                 total(second), excess)
        return None


class QuantumFree(Law):
    name, kinds = "quantum-free", ("quantum",)
    says = "The whole report, without `host` and `config_hash`, is the same at any quantum."
    why = "The quantum is the step of the firmware, and no part of the machine ([timing.md](../models/timing.md), Order)."

    def violation(self, run, change, first, second):
        return difference(self, first, second, ("host", "config_hash"))


class FunctionalTime(Law):
    name, kinds = "functional-time", ("data",)
    says = ("Data change no time and no traffic: but for `dram.resident` a functional run reports what a timing-only "
            "run does.")
    why = "Times depend on addresses and never on values. The metric left out is memory of the simulating machine."

    def violation(self, run, change, first, second):
        reports = [{**report, "statistics": [entry for entry in report.get("statistics", [])
                                             if not entry["name"].endswith(".dram.resident")]}
                   for report in (first, second)]
        return difference(self, *reports, ("host", "config_hash", "data", "functional"))


class ScaledTimes(Law):
    name, kinds = "scaled-times", ("times",)
    tolerance = times.TOLERANCE
    says = "All times twice as long make every result twice as long."
    why = ("No time is a constant of the code. The pair has rates whose intervals are whole picoseconds. "
           "`testbenches/system/scaled_times_test.py` holds a run of each kind against this law.")

    def violation(self, run, change, first, second):
        for phase, time in first["time_ns"].items():
            expected, found = times.FACTOR * (time or 0), second["time_ns"][phase] or 0
            if abs(found - expected) > self.tolerance * expected:
                return self.exceeded(f"time_ns.{phase} is twice the other's", expected, found,
                                     share_off(expected, found))
        return None


class MirrorAgrees(Law):
    name, kinds, has_spread = "mirror-agrees", ("simulate",), True
    tolerance = 0.03
    says = "One GPU that stands for all takes as long as all."
    why = ("3% and the latency of the longest route, by which GPUs leave a barrier behind each other "
           "([collectives.md](../models/collectives.md)). Only where `simulate: mirror` is allowed.")

    def violation(self, run, change, first, second):
        excess = beyond_latency(change, first, second)
        if excess > self.tolerance:
            return self.exceeded("time_ns.total of the mirror is that of all GPUs", total(first), total(second), excess)
        return None


class PlaceFree(Law):
    name, kinds, has_spread = "place-free", ("place",), True
    tolerance = 0.02
    says = "Where GPUs are alike and chunks equal, it does not matter which GPU is the slow one."
    why = ("2% and the latency of the longest route, as for `mirror-agrees`: addresses of chunks differ from place to "
           "place, and so do banks. Asked of GEMMs with equal chunks, GEMV, experts whose tiles have tokens of one GPU, "
           "and collectives without a root, on a ring, full connections or a switch. One GPU has half the clock.")

    def violation(self, run, change, first, second):
        if kind_of(run) == "gemm" and not Chunks.of(run, first).are_alike:
            return None
        if kind_of(run) == "experts" and not tokens_are_whole_tiles(run, first):
            return None
        excess = beyond_latency(change, first, second)
        if excess > self.tolerance:
            return self.exceeded("time_ns.total with another GPU slow", total(first), total(second), excess)
        return None


class ModelsAgree(Law):
    name, kinds, has_spread = "models-agree", ("model",), True
    tolerance = 0.05
    says = "Loosely-timed memory takes the time of exact memory."
    why = ("A run of accesses is served by one decision ([loosely-timed memory](../models/loosely-timed-memory.md)). 15% "
           "of all other pairs have loosely-timed memory as well.")

    def violation(self, run, change, first, second):
        excess = share_off(total(first), total(second))
        if excess > self.tolerance:
            return self.exceeded("time_ns.total with loosely-timed memory", total(first), total(second), excess)
        return None


class BoundsHold(Law):
    name = "bounds-hold"
    says = "No run takes less than a lower bound that it reports."
    why = "Bounds are physical: operations, bytes and the peak rates."

    def violation(self, run, change, first, second):
        for name, bound in first["bounds"].items():
            if bound > total(first) * (1 + 1e-9):
                return self.exceeded(f"time_ns.total is at least bounds.{name}", bound, total(first),
                                     bound / total(first) - 1)
        return None


class PayloadIsClosedForm(Law):
    name = "payload-closed-form"
    says = "Payload on links is what the algorithm sends, over the links of its routes."
    why = ("Chunks, senders, receivers and routes are counted again from the documents (`messages.py`, `routes.py`, "
           "`tiles.py`).")

    def violation(self, run, change, first, second):
        for text, expected, found in closed_forms.payload_figures(run, first):
            if expected != found:
                return self.exceeded(text, expected, found, share_off(expected, found))
        return None


class DramIsClosedForm(Law):
    name = "dram-closed-form"
    says = "DRAM bytes by class are what the algorithm reads, and what peers and updates bring."
    why = ("Updates and what peers bring pass the cache by. Asked of GEMMs whose outputs no cache holds, and of "
           "collectives with equal chunks that a cache holds, where rows and chunks are whole accesses of 32 bytes.")

    def violation(self, run, change, first, second):
        for text, expected, found in dram_forms.dram_figures(run, first, change["cache_bytes"]):
            if expected != found:
                return self.exceeded(text, expected, found, share_off(expected, found))
        return None


def difference(law, first, second, keys):
    """The first leaf in which two reports differ, apart from these keys."""
    first, second = ({key: value for key, value in report.items() if key not in keys} for report in (first, second))
    for path, one, other in differing_leaves(first, second):
        return law.exceeded(path, one, other, 1)
    return None


def differing_leaves(one, other, path=""):
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differing_leaves(one[key], other[key], f"{path}.{key}".lstrip("."))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, (left, right) in enumerate(zip(one, other)):
            name = left.get("name", i) if isinstance(left, dict) else i
            yield from differing_leaves(left, right, f"{path}[{name}]")
    elif one != other:
        yield path, one, other


LAWS = (NotSlower(), SpeedupBounded(), SamePayload(), LargerNotFaster(), QuantumFree(), FunctionalTime(),
        ScaledTimes(), MirrorAgrees(), PlaceFree(), ModelsAgree(), BoundsHold(), PayloadIsClosedForm(), DramIsClosedForm())


def laws_for(change):
    return [law for law in LAWS if not law.kinds or change["kind"] in law.kinds]
