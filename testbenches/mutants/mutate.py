"""Looks what bugs the tests see. Without --changed or --lines it applies the patches beside this file (injected faults), one at a
time, to a copy of the project, builds, and runs the tests that should see them.

A patch NAME.patch has a header of lines such as

    Block: tracker
    Fault: A tile triggers one element early.
    Tests: ^memory:a tile triggers
    Killed-by: memory:a tile triggers once all of its bytes have come

`Tests` is a regular expression of CTest names that begins with ^ and the name of a testbench, whose binary alone is
built. `Killed-by` is written here. `Reason` says why a mutant may survive. The exit code is 1 if one survives without a
reason, does not apply or does not compile.

With --changed BASE or --lines the mutants are made from the lines themselves (changed.py).
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

import changed
from project_copy import PROJECT, Copy, Failure, copy_project, passes, tests_of

MUTANTS = pathlib.Path(__file__).resolve().parent
PATCH = ("patch", "-p1", "-s", "-f", "-F1", "--no-backup-if-mismatch", "-r", "-")


class Mutant:
    def __init__(self, file):
        self.file, self.name = file, file.stem
        text = file.read_text()
        header = dict(re.findall(r"^([\w-]+): (.*)$", text[:text.find("\n--- ") + 1], re.MULTILINE))
        for key in ("Block", "Fault", "Tests"):
            if key not in header:
                raise Failure(f"{file}: a line '{key}: ...' expected before the patch")
        self.block, self.fault, self.tests = header["Block"], header["Fault"], header["Tests"]
        self.reason, self.killer = header.get("Reason"), header.get("Killed-by")
        self.paths = re.findall(r"^--- a/(\S+)", text, re.MULTILINE)
        bench = re.match(r"\^(\w+):", self.tests)
        if not bench or not self.paths:
            raise Failure(f"{file}: 'Tests: ^BENCH:...' and a patch expected")
        self.target = "test_" + bench.group(1)

    def write_killer(self, name):
        """Puts the test that has killed the mutant into its header."""
        if name == self.killer:
            return
        lines = [line for line in self.file.read_text().splitlines(keepends=True) if not line.startswith("Killed-by: ")]
        place = next(i for i, line in enumerate(lines) if line.startswith("Tests: ")) + 1
        self.file.write_text("".join(lines[:place] + [f"Killed-by: {name}\n"] + lines[place:]))
        self.killer = name


def mutants_of(wanted):
    every = [Mutant(file) for file in sorted(MUTANTS.glob("*.patch"))]
    unknown = set(wanted) - {m.name for m in every} - {m.block for m in every}
    if unknown:
        raise Failure(f"no mutant and no block: {', '.join(sorted(unknown))}")
    chosen = [m for m in every if not wanted or m.name in wanted or m.block in wanted]
    return sorted(chosen, key=lambda m: (m.paths, m.name))  # the file that a mutant leaves is the next one's


def problems_of(mutants, names):
    """What would make a run on the mutants useless, or has not been seen, found without building any of them."""
    for mutant in mutants:
        if mutant.killer is None and mutant.reason is None:
            yield f"{mutant.name} has never been killed: tools/mutate {mutant.name}"
        elif mutant.killer is not None and mutant.killer not in names:
            yield f"{mutant.name} was killed by a test that is gone: {mutant.killer}"
        result = subprocess.run([*PATCH, "--dry-run"], cwd=PROJECT, input=mutant.file.read_text(), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if result.returncode != 0:
            yield f"{mutant.name} does not apply: {' '.join(result.stdout.split())}"
        if not any(re.search(mutant.tests, name) for name in names):
            yield f"{mutant.name}: no test matches {mutant.tests}"


class Bench:
    """The copy, in which one mutant at a time is applied."""

    def __init__(self, work):
        self.copy = Copy(work)

    def prepare(self, targets):
        copy_project(self.copy.tree)
        self.copy.configure()
        code, text = self.copy.compile(*sorted(targets))
        if code != 0:
            raise Failure(text[-4000:] + "the project does not build")
        self.every_test = tests_of("ctest", self.copy.build)

    def failing(self, expression, first=None):
        """The name of the first test that fails, None if all pass. The test `first` runs before the others."""
        tests = [test for test in self.every_test if re.search(expression, test["name"])]
        if not tests:
            raise Failure(f"no test matches {expression}")
        for test in [test for test in tests if test["name"] == first]:
            if not passes(test, self.copy.build):
                return first
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for test, passed in zip(tests, pool.map(lambda test: passes(test, self.copy.build), tests)):
                if not passed:
                    pool.shutdown(cancel_futures=True)
                    return test["name"]
        return None

    def verdict(self, mutant):
        """What became of the mutant, and whether that is as it should be."""
        originals = {path: (self.copy.tree / path).read_bytes() for path in mutant.paths}
        try:
            code, text = self.copy.run(*PATCH, input=mutant.file.read_text())
            if code != 0:
                return f"does not apply: {text.strip()}", False
            code, text = self.copy.compile(mutant.target)
            if code != 0:
                return "does not compile: " + " ".join(re.findall(r"error: .*", text)[:1]), False
            killer = self.failing(mutant.tests, mutant.killer)
        finally:
            for path, content in originals.items():
                (self.copy.tree / path).write_bytes(content)
        if killer:
            mutant.write_killer(killer)
            return killer, True
        return ("SURVIVED: " + mutant.reason if mutant.reason else "SURVIVED"), bool(mutant.reason)


def run_patches(options):
    chosen = mutants_of(options.mutants)
    if options.list:
        print("\n".join(f"{m.block}: {m.name}: {m.fault}" for m in chosen))
        return 0
    if options.check:
        problems = list(problems_of(chosen, [test["name"] for test in tests_of(*options.check)]))
        print("\n".join(problems) if problems else f"{len(chosen)} mutants")
        return 1 if problems else 0
    begin = time.monotonic()
    bench = Bench(options.work.resolve())
    print("Copying and building the project; the first time this takes minutes", file=sys.stderr, flush=True)
    bench.prepare({m.target for m in chosen})
    for expression in sorted({m.tests for m in chosen}):
        if name := bench.failing(expression):
            raise Failure(f"fails without any mutant: {name}")
    wrong, survivors = 0, 0
    for mutant in chosen:
        verdict, right = bench.verdict(mutant)
        wrong += not right
        survivors += verdict.startswith("SURVIVED")
        print(f"{mutant.name}: {verdict}", flush=True)
    print(f"\n{len(chosen)} mutants, {survivors} survived, {wrong} without a reason or unusable; "
          f"{time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


def positive(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"a whole number above 0 expected, not {text}")
    return int(text)


def main():
    parser = argparse.ArgumentParser(prog="tools/mutate", description="Looks whether the tests see injected faults.")
    parser.add_argument("mutants", nargs="*", help="names or blocks of patches; all if there are none")
    parser.add_argument("--list", action="store_true", help="only say what there is")
    parser.add_argument("--check", nargs=2, metavar=("CTEST", "BUILD"),
                        help="only look whether patches apply and their tests are in a build folder")
    parser.add_argument("--work", type=pathlib.Path, default=PROJECT / "build" / "mutants", help="folder of the copy")
    parser.add_argument("--changed", metavar="BASE", help="mutate the lines that differ from this commit")
    parser.add_argument("--lines", metavar="FILE:FROM-TO", action="append", help="mutate these lines")
    parser.add_argument("--most", metavar="N", type=positive, help="with --changed or --lines: so many mutants at most, drawn from all")
    parser.add_argument("--tests", metavar="REGEX", help="with --changed or --lines: these tests, not the nearest ones")
    options = parser.parse_args()
    by_lines = bool(options.changed or options.lines)
    if options.changed and options.lines or by_lines and (options.mutants or options.check):
        parser.error("patches by name, --check, --changed and --lines exclude one another")
    if not by_lines and (options.most or options.tests):
        parser.error("--most and --tests need --changed or --lines")
    return changed.run(options) if by_lines else run_patches(options)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(failure, file=sys.stderr)
        sys.exit(2)
