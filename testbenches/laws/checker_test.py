"""The checker of laws sees what it should: each law goes red for a fault that breaks it, and for no lawful machine."""
import random
import shlex
import unittest

import exceptions
import page
from changes import MODEL, RESOURCES, random_change, runs_of
from check_laws import Check
from fake_machine import ALL_REDUCE, FUSED, FakeMachine
from laws import LAWS, Violation
from machine import arguments_of
from messages import direct, hierarchical, ring, torus_rings
from pairs import Judge
from random_runs import kind_of, random_run
from routes import TIE, Fabric
from shrink import shrunk

FASTER_CLOCK = {"kind": "resource", "path": "system.compute.clock_GHz", "direction": "more", "ratio": 1.25}
NEARER_LINK = {"kind": "resource", "path": "system.links.link_latency_ns", "direction": "less", "ratio": 2}
TWICE_THE_BYTES = {"kind": "size", "path": "workload.collective.bytes", "ratio": 2}
TWICE_K = {"kind": "size", "path": "workload.gemm.k", "ratio": 2}
QUANTA = {"kind": "quantum", "first_ns": 1, "second_ns": 500}
DATA = {"kind": "data"}
TIMES = {"kind": "times"}
MIRROR = {"kind": "simulate"}
PLACES = {"kind": "place", "first": 0, "second": 2}
MODELS = {"kind": "model"}


def slower(share, when):
    """Times longer by a share in the runs that a condition names."""
    def fault(run, report):
        if when(run):
            report["time_ns"]["total"] *= 1 + share
    return fault


def is_better(run):
    return "system.compute.clock_GHz" in run or run.get("system.links.link_latency_ns") == 100


def hidden_constant(run, report):
    report["time_ns"]["total"] += 100


def lost_payload(run, report):
    report["links"][0]["payload_bytes"] -= 32


def more_payload_of_better(run, report):
    if is_better(run):
        report["links"][1]["payload_bytes"] += 32


def written_twice(name):
    def fault(run, report):
        report["dram_bytes"][name] += 32
    return fault


def bound_unchecked(run, report):
    report["bounds"]["link_ns"], report["checks_bounds"] = report["time_ns"]["total"] + 1, False


def bound_beaten(run, report):
    report["bounds"]["link_ns"] = report["time_ns"]["total"] + 1


def a_read_more(when):
    def fault(run, report):
        if when(run):
            report["statistics"][1]["value"] += 1
    return fault


FAULTS = (
    ("not-slower", ALL_REDUCE, FASTER_CLOCK, slower(0.05, is_better)),
    ("not-slower", FUSED, NEARER_LINK, slower(0.05, is_better)),
    ("speedup-bounded", FUSED, FASTER_CLOCK, slower(0.5, lambda run: not is_better(run))),
    ("same-payload", ALL_REDUCE, FASTER_CLOCK, more_payload_of_better),
    ("larger-not-faster", ALL_REDUCE, TWICE_THE_BYTES,
     slower(1, lambda run: run["workload"]["collective"]["bytes"] == 4096)),
    ("larger-not-faster", FUSED, TWICE_K, slower(1, lambda run: run["workload"]["gemm"]["k"] == 64)),
    ("quantum-free", ALL_REDUCE, QUANTA, a_read_more(lambda run: run.get("quantum_ns") == 500)),
    ("functional-time", FUSED, DATA, a_read_more(lambda run: run["data"] == "functional")),
    ("functional-time", FUSED, DATA, slower(1e-9, lambda run: run["data"] == "functional")),
    ("scaled-times", ALL_REDUCE, TIMES, hidden_constant),
    ("mirror-agrees", FUSED, MIRROR, slower(0.2, lambda run: run.get("simulate") == "mirror")),
    ("place-free", ALL_REDUCE, PLACES, slower(0.2, lambda run: run["system.gpus"][0]["gpu"] == 2)),
    ("models-agree", FUSED, MODELS, slower(0.06, lambda run: run[MODEL] == "loosely-timed")),
    ("models-agree", ALL_REDUCE, MODELS, slower(-0.06, lambda run: run[MODEL] == "loosely-timed")),
    ("bounds-hold", ALL_REDUCE, DATA, bound_unchecked),
    ("payload-closed-form", ALL_REDUCE, DATA, lost_payload),
    ("payload-closed-form", FUSED, DATA, lost_payload),
    ("dram-closed-form", FUSED, DATA, written_twice("rs_write")),
    ("dram-closed-form", ALL_REDUCE, DATA, written_twice("collective_read")),
    ("passes", ALL_REDUCE, DATA, bound_beaten),
)


def outcome(run, change, fault=None, accepted=()):
    return Judge(FakeMachine(fault), accepted).outcome(run, change)


class Laws(unittest.TestCase):
    def test_a_lawful_machine_breaks_none(self):
        for run in (ALL_REDUCE, FUSED):
            changes = [{"kind": "resource", "path": path, "direction": direction, "ratio": 2}
                       for path, direction, _ in RESOURCES if FakeMachine().value_of(run, path)]
            self.assertGreater(len(changes), 15)
            size = TWICE_K if run is FUSED else TWICE_THE_BYTES
            for change in (*changes, size, QUANTA, DATA, TIMES, MIRROR, PLACES, MODELS):
                self.assertIsNone(outcome(run, change).violation, change)

    def test_each_law_goes_red(self):
        for law, run, change, fault in FAULTS:
            violation = outcome(run, change, fault).violation
            self.assertIsNotNone(violation, law)
            self.assertEqual(violation.law, law)

    def test_every_law_has_a_fault(self):
        self.assertEqual({law for law, *_ in FAULTS}, {law.name for law in LAWS} | {"passes"})

    def test_what_differs_by_chance_is_within_the_spread(self):
        def chaotic(run, report):
            is_one_of_five = run.get("jitter.seed") == 1
            is_refreshed = run.get("system.memory.dram.refresh") is not False
            if "system.compute.clock_GHz" in run and (is_refreshed or is_one_of_five):
                report["time_ns"]["total"] *= 1.05
        found = outcome(ALL_REDUCE, FASTER_CLOCK, chaotic)
        self.assertIsNone(found.violation)
        self.assertEqual(found.within_spread, 1)


    def test_what_differs_by_more_than_the_spread_is_not(self):
        def uneven(run, report):
            step = run.get("jitter.seed", 0)
            if "system.compute.clock_GHz" in run:
                report["time_ns"]["total"] *= share + step * 0.005
        for share, is_broken in ((1.08, True), (1.015, False)):
            self.assertEqual(outcome(ALL_REDUCE, FASTER_CLOCK, uneven).violation is not None, is_broken)


class Exceptions(unittest.TestCase):
    ENTRY = {"name": "clock", "status": "accepted", "laws": ["not-slower"], "at_most": 0.06, "cause": "A test.",
             "where": {"path": "system.compute.clock_GHz", "topology": ["ring", "torus"]}}

    def accepted(self, run=ALL_REDUCE, change=None, share=0.05, **other):
        return outcome(run, change or FASTER_CLOCK, slower(share, is_better), [{**self.ENTRY, **other}]).accepted

    def test_one_accepts_what_it_says_and_no_more(self):
        self.assertEqual(self.accepted(), ["clock"])
        self.assertEqual(self.accepted(share=0.2), [])
        self.assertEqual(self.accepted(change=NEARER_LINK), [])
        self.assertEqual(self.accepted(laws=["larger-not-faster"]), [])
        self.assertEqual(self.accepted(where={"topology": "switch"}), [])

    def test_the_table_is_read_and_every_predicate_is_known(self):
        for entry in exceptions.read():
            self.assertTrue(set(entry["laws"]) <= {law.name for law in LAWS}, entry["name"])
            self.assertGreater(len(entry["cause"]), 40)

    def test_the_page_lists_laws_and_exceptions(self):
        text = (FakeMachine().root / "docs/validation/laws.md").read_text()
        for part in page.parts():
            self.assertIn(f"\n{part}\n", text)
        self.assertEqual(text.count("\n**`"), len(exceptions.read()))


class Shrinking(unittest.TestCase):
    LARGE = {**ALL_REDUCE, "gpus": 8, "system.links.bandwidth_GBps": 10, "system.compute.launch_latency_ns": 500,
             "workload": {"collective": {"op": "all-reduce", "algorithm": "ring", "bytes": 16384, "element": "fp16"}}}

    def test_it_keeps_what_the_fault_needs(self):
        def needs(run):
            return is_better(run) and run["gpus"] >= 4 and run["workload"]["collective"]["bytes"] >= 1024
        judge = Judge(FakeMachine(slower(0.05, needs)), ())
        run, violation = shrunk(judge, self.LARGE, FASTER_CLOCK, judge.outcome(self.LARGE, FASTER_CLOCK).violation)
        self.assertEqual(run["gpus"], 4)
        self.assertEqual(run["workload"]["collective"]["bytes"], 1024)
        self.assertNotIn("system.links.bandwidth_GBps", run)
        self.assertNotIn("system.compute.launch_latency_ns", run)
        self.assertEqual(violation.law, "not-slower")

    def test_it_does_not_end_in_an_accepted_exception(self):
        accepted = [{**Exceptions.ENTRY, "where": {"gpus": [2, 3]}}]
        judge = Judge(FakeMachine(slower(0.05, is_better)), accepted)
        run, _ = shrunk(judge, self.LARGE, FASTER_CLOCK, judge.outcome(self.LARGE, FASTER_CLOCK).violation)
        self.assertEqual(run["gpus"], 4)

    def test_a_violation_is_printed_with_both_commands(self):
        check = Check(FakeMachine(slower(0.05, is_better)), 1, ())
        violation = Violation("not-slower", "text", 100, 105, 0.05)
        lines = check.text(3, FASTER_CLOCK, ALL_REDUCE, violation, violation).splitlines()
        self.assertIn("pair 3 of seed 1 breaks the law not-slower", lines[0])
        self.assertIn("100 expected, 105 found", lines[1])
        for line, run in zip(lines[2:], runs_of(ALL_REDUCE, FASTER_CLOCK, check.machine)):
            self.assertEqual(shlex.split(line), ["build/release/t3vp", *arguments_of(run)])
        self.assertEqual(len(lines), 4)


class Forms(unittest.TestCase):
    """What the closed forms have to agree on, whatever the algorithm."""

    def test_every_gpu_receives_what_it_lacks(self):
        sizes = [64, 96, 32, 64, 128, 32]
        for gather in (ring("all-gather", sizes), direct("all-gather", sizes), hierarchical("all-gather", sizes, 2)):
            for gpu, own in enumerate(sizes):
                received = sum(size for (_, target), size in gather.items() if target == gpu)
                self.assertEqual(received, sum(sizes) - own)
        for broadcast in (ring("broadcast", sizes), direct("broadcast", sizes), hierarchical("broadcast", sizes, 3)):
            self.assertEqual(sum(broadcast.values()), 5 * sum(sizes))

    def test_a_reduce_scatter_is_an_all_gather_backwards(self):
        sizes = [64, 96, 32, 64, 128, 32]
        for form in (direct, lambda op, sizes: hierarchical(op, sizes, 3)):
            scatter, gather = form("reduce-scatter", sizes), form("all-gather", sizes)
            self.assertEqual({(two, one): size for (one, two), size in scatter.items() if size},
                             {pair: size for pair, size in gather.items() if size})

    def test_a_torus_carries_as_much_as_one_ring(self):
        self.assertEqual(sum(torus_rings("all-reduce", [32] * 12, [2, 3, 2]).values()),
                         sum(ring("all-reduce", [32] * 12).values()))

    def test_routes_lead_from_sender_to_receiver(self):
        generator = random.Random(2)
        for _ in range(300):
            run = random_run(generator)
            gpus, topology = run["gpus"], run["system.links.topology"]
            if gpus == 1 or (topology["kind"] == "nodes" and "between" not in topology):
                continue
            source, target = generator.sample(range(gpus), 2)
            links = Fabric(topology, gpus).route(source, target)
            self.assertLessEqual(len(links), gpus)
            if TIE not in links:
                self.assertEqual([source, *(link[1] for link in links)], [*(link[0] for link in links), target])


class Draws(unittest.TestCase):
    def test_a_seed_gives_the_same_pair(self):
        def draw(seed):
            generator = random.Random(seed)
            run = random_run(generator)
            return run, random_change(generator, run, FakeMachine())
        self.assertEqual(draw("1/5"), draw("1/5"))
        self.assertNotEqual(draw("1/5"), draw("1/6"))

    def test_all_kinds_come_up(self):
        generator, machine = random.Random(1), FakeMachine()
        runs = [random_run(generator) for _ in range(4000)]
        changes = [random_change(generator, run, machine) for run in runs]
        self.assertEqual({change["kind"] for change in changes},
                         {kind for law in LAWS for kind in law.kinds})
        self.assertEqual({path for path, *_ in RESOURCES} - {change.get("path") for change in changes}, set())
        self.assertEqual({kind_of(run) for run in runs},
                         {"collective", "gemm", "embedding", "dlrm", "gemv", "experts", "layer"})
        self.assertEqual({run["system.links.topology"]["kind"] for run in runs},
                         {"ring", "fully-connected", "switch", "torus", "nodes"})


if __name__ == "__main__":
    unittest.main()
