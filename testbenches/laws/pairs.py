"""A pair of runs: executed, held against the laws, with the spread of its times measured where a law needs that."""
import dataclasses
import statistics

import exceptions
from changes import runs_of
from closed_forms import is_joined
from laws import Violation, laws_for
from machine import FailedRun, with_value
from routes import Fabric

REPLICATES = 5  # odd, so that a median is one of them


@dataclasses.dataclass
class Outcome:
    """Of one pair: the first violation that nothing accepts, and what was accepted."""
    violation: Violation = None
    accepted: list = dataclasses.field(default_factory=list)
    within_spread: int = 0


class Judge:
    def __init__(self, machine, accepted):
        self.machine, self.accepted = machine, accepted

    def outcome(self, run, change):
        """Raises IllegalRun when t3vp refuses one of both runs."""
        outcome = Outcome()
        one, other = runs_of(run, change, self.machine)
        try:
            first, second = self.machine.report_of(one), self.machine.report_of(other)
            cache_bytes = self.machine.value_of(run, "system.cache.capacity_MiB") * 2**20
            change = {**change, "latency_ns": self._longest_latency(run), "cache_bytes": cache_bytes}
            self._judge(outcome, (run, change), (one, other), (first, second))
        except FailedRun as failure:
            outcome.violation = Violation("passes", str(failure), 0, 1, 1)
        return outcome

    def _judge(self, outcome, pair, runs, reports):
        spread = None
        facts = exceptions.facts_of(*pair, *reports)
        for law in laws_for(pair[1]):
            violation = law.violation(*pair, *reports)
            if violation and law.has_spread:
                spread = spread or Spread(*(self._times(one) for one in runs))
                medians = law.violation(*pair, *spread.with_medians(reports))
                if not medians or medians.excess <= law.tolerance + spread.share:
                    outcome.within_spread += 1
                    continue
            if not violation:
                continue
            name = exceptions.accepting(self.accepted, violation, facts)
            if name:
                outcome.accepted.append(name)
            else:
                outcome.violation = violation
                return

    def _longest_latency(self, run):
        """Of the longest route from GPU 0, over which a barrier releases GPUs."""
        if run["gpus"] == 1 or not is_joined(run):
            return 0
        fabric = Fabric(run["system.links.topology"], run["gpus"])
        links = max(len(fabric.route(0, gpu)) for gpu in range(1, run["gpus"]))
        switch = run["system.links.topology"].get("latency_ns", 0)
        return links * self.machine.value_of(run, "system.links.link_latency_ns") + switch

    def _times(self, run):
        """Total times of runs with jitter. Memory is not refreshed and kernels poll often: a run of some microseconds
        can meet one refresh more, and what is ready a little earlier can be seen a poll later."""
        steady = with_value(with_value(run, "system.memory.dram.refresh", False), "system.compute.poll_ns", 50)
        return [self.machine.report_of(with_value(steady, "jitter.seed", seed))["time_ns"]["total"]
                for seed in range(REPLICATES)]


class Spread:
    """Of the times of both machines: their medians, and the wider range as a share of its median."""

    def __init__(self, *times):
        self.medians = [statistics.median(each) for each in times]
        self.share = max((max(each) - min(each)) / median for each, median in zip(times, self.medians))

    def with_medians(self, reports):
        return [{**report, "time_ns": {**report["time_ns"], "total": median}}
                for report, median in zip(reports, self.medians)]
