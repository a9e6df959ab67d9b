"""Mutates changed lines by operators, compiles all mutations at once behind a switch, and runs the nearest tests once for each."""
import concurrent.futures
import dataclasses
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

import near_tests
import operators
import schemata
from project_copy import PROJECT, Copy, Failure, copy_project, passes

FOLDERS = ("models", "platform", "firmware", "abi")
SUFFIXES = (".cpp", ".h", ".c")
ALONE_SECONDS = 30  # of a test without mutants; longer ones are left out
ROUNDS = 12         # of compiling and leaving out what does not compile


@dataclasses.dataclass
class Mutant:
    number: int
    path: pathlib.Path
    text: str  # of the whole file
    mutation: operators.Mutation

    @property
    def before(self):
        return f"{self.path}:{self.mutation.line}\n    - {schemata.shown(self.text, self.mutation)[0]}"

    @property
    def after(self):
        return schemata.shown(self.text, self.mutation)[1] or "(nothing)"


def git(*words):
    result = subprocess.run(["git", *words], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        raise Failure(f"git {' '.join(words)}: {result.stderr.strip()}")
    return result.stdout


def lines_of_diff(text):
    """The new numbers of the lines that a difference without context adds, by path."""
    lines, path = {}, None
    for line in text.splitlines():
        if line.startswith("+++ "):
            path = pathlib.Path(line[6:]) if line.startswith("+++ b/") else None
        elif path and (match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)):
            begin, count = int(match[1]), int(match[2] or 1)
            lines.setdefault(path, set()).update(range(begin, begin + count))
    return lines


def changed_lines(base):
    """The lines that differ from where this branch has left `base`, so that what came to `base` since is nobody's change here."""
    base = git("merge-base", base, "HEAD").strip()
    lines = lines_of_diff(git("diff", "-U0", "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/", base, "--", *FOLDERS))
    for name in git("ls-files", "--others", "--exclude-standard", "--", *FOLDERS).splitlines():
        lines[pathlib.Path(name)] = None  # all lines of a new file
    return {path: numbers for path, numbers in lines.items() if path.suffix in SUFFIXES}


def given_lines(texts):
    lines = {}
    for text in texts:
        match = re.fullmatch(r"(.+):(\d+)-(\d+)", text)
        file = (PROJECT / match[1]).resolve() if match else PROJECT
        if not file.is_file() or file.suffix not in SUFFIXES or not file.is_relative_to(PROJECT):
            raise Failure(f"--lines {text}: FILE:FROM-TO expected, with a C or C++ file by its path from the checkout's root")
        lines.setdefault(file.relative_to(PROJECT), set()).update(range(int(match[2]), int(match[3]) + 1))
    return lines


def mutants_in(lines, most):
    """The mutants in these lines, at most so many (drawn, but the same ones each time), and how many places were skipped."""
    places, skipped = [], 0
    for path in sorted(lines):
        text = (PROJECT / path).read_text()
        found, left_out = operators.mutations_of(text, lines[path])
        places += [(path, text, mutation) for mutation in found]
        skipped += left_out
    if most and len(places) > most:
        chosen = sorted(random.Random(0).sample(range(len(places)), most))
        places = [places[i] for i in chosen]
    return [Mutant(number, *place) for number, place in enumerate(places, 1)], skipped


class Build:
    """The copy with all mutants in it."""

    def __init__(self, work, mutants):
        self.copy, self.mutants, self.all = Copy(work), {m.number: m for m in mutants}, len(mutants)
        self.owners = {}

    def write(self):
        switch = self.copy.tree / "mutant_switch.h"
        changes = {pathlib.Path("mutant_switch.h"):
                   schemata.header(self.all, os.O_WRONLY | os.O_CREAT | os.O_APPEND).encode()}
        for file in (PROJECT / "cmake").glob("*.cmake"):  # mutants are not warned of
            changes[file.relative_to(PROJECT)] = file.read_text().replace("-Werror", "-w").encode()
        by_path = {}
        for mutant in self.mutants.values():
            by_path.setdefault(mutant.path, []).append(mutant)
        for path, there in by_path.items():
            text, self.owners[path] = schemata.write(there[0].text, [(m.number, m.mutation) for m in there], switch)
            changes[path] = text.encode()
        copy_project(self.copy.tree, changes)

    def make(self, targets, includes):
        self.write()
        self.copy.configure()
        self.compile(self.objects(includes))  # each file alone: what does not compile is found before all that includes it is built
        self.compile(targets)

    def objects(self, includes):
        sources = {m.path if m.path.suffix != ".h" else includes.source_with(m.path) for m in self.mutants.values()}
        commands = json.loads((self.copy.build / "compile_commands.json").read_text())
        files = {str(self.copy.tree / source) for source in sources if source}
        return [command["output"] for command in commands if command["file"] in files and "output" in command]

    def compile(self, targets):
        if not targets:
            return
        for _ in range(ROUNDS):
            code, text = self.copy.compile_all_that_compiles(*targets)
            if code == 0:
                return
            if not self.leave_out(text):
                break
            self.write()
        raise Failure("\n".join(re.findall(r".*error.*", text)[:5] or [text[-2000:]]) + "\nthe project with mutants does not build")

    def leave_out(self, text):
        """Drops the mutants in whose lines the compiler finds errors; those of a file that has errors elsewhere all, dropped statements first."""
        blamed, files = {True: set(), False: set()}, set()  # by errors, and by what the compiler says besides
        for name, line, kind in re.findall(r"^(\S+?):(\d+):(?:\d+:)?\s+(\w+)", text, re.MULTILINE):
            path = self.path(name)
            if path in self.owners:
                files.add(path)
                blamed[kind == "error"].add(self.owners[path].get(int(line)))
        wrong = blamed[True] & set(self.mutants) or blamed[False] & set(self.mutants)
        if not wrong:
            there = [m for m in self.mutants.values() if m.path in files]
            wrong = {m.number for m in there if not m.mutation.edits} or {m.number for m in there}
        left = wrong & set(self.mutants)
        for number in left:
            del self.mutants[number]
        for path in files - {m.path for m in self.mutants.values()}:
            self.owners.pop(path, None)
        return left

    def path(self, name):
        absolute = pathlib.Path(os.path.normpath(self.copy.build / name))
        return absolute.relative_to(self.copy.tree) if absolute.is_relative_to(self.copy.tree) else None


class Tests:
    """The near tests: which mutants each one reaches, and how long it takes without any."""

    def __init__(self, build, work, benches, expression):
        self.build, self.scratch, self.count = build, work / "scratch", itertools.count()
        shutil.rmtree(self.scratch, ignore_errors=True)
        tests = build.copy.tests(expression)
        if not tests:
            raise Failure(f"no test matches {expression}")
        order = {name: place for place, name in enumerate(benches)}
        self.reaching, self.left_out, self.run_count = {}, [], len(tests)
        say(f"Running {len(tests)} tests of {', '.join(benches)} without a mutant")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(self.alone, tests))
        ranked = sorted(zip(tests, results), key=lambda pair: (order.get(pair[0]["name"].split(":")[0], len(order)), pair[1][1]))
        for test, (passed, seconds, reached) in ranked:
            if not passed:
                self.left_out.append(test["name"])
            else:
                for number in reached:
                    self.reaching.setdefault(number, []).append((test, seconds))
        if len(self.left_out) * 2 > len(tests):
            raise Failure(f"most tests fail without any mutant, {self.left_out[0]} for one")

    def run(self, test, seconds, **environment):
        folder = self.scratch / str(next(self.count))  # several mutants run the same test at a time
        folder.mkdir(parents=True)
        try:
            return passes(test, self.build.copy.build, seconds, {**environment, "TMPDIR": str(folder)})
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def alone(self, test):
        log = self.scratch / f"reached-{next(self.count)}"
        log.parent.mkdir(parents=True, exist_ok=True)
        begin = time.monotonic()
        passed = self.run(test, ALONE_SECONDS, T3VP_MUTANTS_REACHED=str(log))
        return passed, time.monotonic() - begin, {int(line) for line in log.read_text().split()} if log.exists() else set()

    def killer(self, number):
        for test, seconds in self.reaching.get(number, []):
            if not self.run(test, max(10, 10 * seconds), T3VP_MUTANT=str(number)):
                return test["name"]
        return None


def say(text):
    print(text, file=sys.stderr, flush=True)


def wanted_benches(lines, includes, expression):
    names = [name for names in near_tests.benches(PROJECT).values() for name in names]
    if expression:
        words = re.findall(r"\w+", expression.split(":")[0])
        benches = [name for name in names if name in words]
        if not benches:
            raise Failure(f"--tests {expression}: '^BENCH:...' or '^(BENCH|BENCH):...' expected")
        return benches
    found = [near_tests.nearest(path, PROJECT, includes) for path in sorted(lines)]
    ranks = {name: min(near.index(name) for near in found if name in near) for near in found for name in near}
    return sorted(ranks, key=lambda name: (ranks[name], name))


def run(options):
    begin = time.monotonic()
    lines = changed_lines(options.changed) if options.changed else given_lines(options.lines)
    mutants, skipped = mutants_in(lines, options.most)
    if options.list:
        tell(mutants)
    if options.list or not mutants:
        print(f"{len(mutants)} mutants, {skipped} places skipped")
        return 0
    includes = near_tests.Includes(PROJECT)
    benches = wanted_benches({m.path for m in mutants}, includes, options.tests)
    expression = options.tests or f"^({'|'.join(benches)}):"
    work = options.work.resolve() / "switched"
    say(f"Building {len(mutants)} mutants into {', '.join('test_' + name for name in benches)}; the first time this takes minutes")
    build = Build(work, mutants)
    build.make(["test_" + name for name in benches], includes)
    tests = Tests(build, work, benches, expression)
    alive = sorted(build.mutants)
    say(f"Running the tests of {len(alive)} mutants")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        killers = dict(zip(alive, pool.map(tests.killer, alive)))
    return report(build, tests, killers, skipped, time.monotonic() - begin)


def tell(mutants, remarks=None):
    """Each original line once, with its mutants behind it."""
    for before, group in itertools.groupby(mutants, key=lambda mutant: mutant.before):
        print(before)
        for mutant in group:
            print(f"    + {mutant.after}" + (f"    [{remarks[mutant.number]}]" if remarks else ""))


def report(build, tests, killers, skipped, seconds):
    survivors = [n for n, killer in killers.items() if killer is None]
    counts = {n: len(tests.reaching.get(n, [])) for n in survivors}
    tell([build.mutants[n] for n in survivors], {n: f"{count} tests pass" if count else "no near test comes here" for n, count in counts.items()})
    if tests.left_out:
        print(f"Left out, since they fail or take over {ALONE_SECONDS} s without a mutant: {'; '.join(tests.left_out[:5])}"
              + (f" and {len(tests.left_out) - 5} more" if len(tests.left_out) > 5 else ""))
    print(f"{len(killers)} mutants: {len(killers) - len(survivors)} killed, {len(survivors)} survived; {build.all - len(killers)} did not compile, "
          f"{skipped} places skipped; {tests.run_count} tests; {seconds:.0f} s")
    return 1 if survivors else 0
