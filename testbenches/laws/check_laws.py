"""Random pairs of runs against the laws of docs/validation/laws.md.

  check_laws.py T3VP SOURCE_DIRECTORY [--pairs N] [--seed N] [--pair I] [--jobs N] [--progress]

A pair follows from the seed and its number alone: --pair I repeats one. A violation is shrunk, and printed with the
commands of both runs, which can be pasted in the root of the checkout. Exit code 1 says that there was one.
"""
import argparse
import concurrent.futures
import random
import sys
from collections import Counter

import exceptions
from changes import random_change, random_variant, runs_of
from machine import IllegalRun, Machine
from pairs import Judge
from random_runs import random_run
from shrink import shrunk

DRAWS = 50  # of which at least one is legal
MOST_REFUSED = 0.25  # draws for each pair that t3vp may refuse


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("t3vp")
    parser.add_argument("root")
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pair", type=int)
    parser.add_argument("--jobs", type=int, default=1, help="pairs at a time")
    parser.add_argument("--progress", action="store_true")
    return parser.parse_args()


class Check:
    def __init__(self, machine, seed, accepted):
        self.machine, self.seed = machine, seed
        self.judge = Judge(machine, accepted)
        self.counts, self.accepted, self.broken = Counter(), Counter(), Counter()

    def pair(self, number):
        """The refused draws and the outcome of a pair, and the text of its violation, if it has one."""
        generator = random.Random(f"{self.seed}/{number}")
        for refused in range(DRAWS):
            run = random_variant(generator, random_run(generator), self.machine)
            change = random_change(generator, run, self.machine)
            try:
                outcome = self.judge.outcome(run, change)
            except IllegalRun:
                continue
            violation = outcome.violation
            text = violation and self.text(number, change, *shrunk(self.judge, run, change, violation), violation)
            return refused, outcome, text
        raise SystemExit(f"pair {number} of seed {self.seed}: t3vp refused {DRAWS} draws, the last one as well:\n"
                         f"  {self.machine.command_of(run)}")

    def count(self, refused, outcome, text):
        self.counts.update({"pairs": 1, "refused": refused, "within the spread": outcome.within_spread})
        self.accepted.update(outcome.accepted)
        if text:
            self.broken[outcome.violation.law] += 1
            print(text, flush=True)

    def text(self, number, change, run, violation, original):
        one, other = runs_of(run, change, self.machine)
        return "\n".join((
            f"pair {number} of seed {self.seed} breaks the law {violation.law}; "
            f"{' '.join(str(value) for value in change.values())}",
            f"  {violation.text}: {violation.expected} expected, {violation.found} found "
            f"(off by {violation.excess:.4g}, {original.excess:.4g} before it was shrunk)",
            *(f"  {self.machine.command_of(command)}" for command in ((one, other) if one != other else (one,)))))

    def summary(self):
        return (f"{self.counts['pairs']} pairs of seed {self.seed}: {self.broken.total()} violations "
                f"{dict(self.broken)}, {self.counts['within the spread']} within the spread, "
                f"exceptions {dict(self.accepted)}, {self.counts['refused']} draws refused")

    def passes(self):
        if self.counts["refused"] > MOST_REFUSED * self.counts["pairs"] + DRAWS:
            print("too many draws are refused: the generator no longer knows what is legal")
            return False
        return not self.broken


def main():
    options = arguments()
    check = Check(Machine(options.t3vp, options.root), options.seed, exceptions.read())
    numbers = range(options.pairs) if options.pair is None else (options.pair,)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, result in zip(numbers, pool.map(check.pair, numbers)):
            check.count(*result)
            if options.progress and number % 100 == 99:
                print(check.summary(), file=sys.stderr, flush=True)
    print(check.summary())
    return 0 if check.passes() else 1


if __name__ == "__main__":
    sys.exit(main())
