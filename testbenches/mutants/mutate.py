"""Plants bugs one at a time in a copy of the project, builds, and runs the tests that should see them.
What killed each, or why it survived, is written to seen.md beside this file.

A mutant is a patch NAME.patch beside this file with a header of lines such as

    Block: tracker
    Fault: A tile triggers one element early.
    Tests: ^memory:a tile triggers

`Tests` is a regular expression of CTest names that begins with ^ and the name of a testbench, whose binary alone is
built. `Reason` says why a mutant may survive. The exit code is 1 if one survives without a reason, does not apply or
does not compile.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

MUTANTS = pathlib.Path(__file__).resolve().parent
SEEN = MUTANTS / "seen.md"
PROJECT = MUTANTS.parent.parent
NOT_COPIED = {"build", "out", ".git"}
PATCH = ("patch", "-p1", "-s", "-f", "-F1", "--no-backup-if-mismatch", "-r", "-")
TEST_SECONDS = 90  # of a test in a mutant, which may hang
TEST_BYTES = 8 << 30  # of address space; a mutant may fill memory


class Failure(Exception):
    """What ends the whole run."""


class Mutant:
    def __init__(self, file):
        self.file, self.name = file, file.stem
        text = file.read_text()
        header = dict(re.findall(r"^(\w+): (.*)$", text[:text.find("\n--- ") + 1], re.MULTILINE))
        for key in ("Block", "Fault", "Tests"):
            if key not in header:
                raise Failure(f"{file}: a line '{key}: ...' expected before the patch")
        self.block, self.fault, self.tests = header["Block"], header["Fault"], header["Tests"]
        self.reason = header.get("Reason")
        self.paths = re.findall(r"^--- a/(\S+)", text, re.MULTILINE)
        bench = re.match(r"\^(\w+):", self.tests)
        if not bench or not self.paths:
            raise Failure(f"{file}: 'Tests: ^BENCH:...' and a patch expected")
        self.target = "test_" + bench.group(1)


def mutants_of(wanted):
    every = [Mutant(file) for file in sorted(MUTANTS.glob("*.patch"))]
    unknown = set(wanted) - {m.name for m in every} - {m.block for m in every}
    if unknown:
        raise Failure(f"no mutant and no block: {', '.join(sorted(unknown))}")
    chosen = [m for m in every if not wanted or m.name in wanted or m.block in wanted]
    return sorted(chosen, key=lambda m: (m.paths, m.name))  # the file that a mutant leaves is the next one's


def files_of(root):
    for folder, folders, names in os.walk(root):
        if pathlib.Path(folder) == root:
            folders[:] = [name for name in folders if name not in NOT_COPIED]
        for name in names:
            yield (pathlib.Path(folder) / name).relative_to(root)


def copy_project(tree):
    """Only what differs is written, so that a second run builds nothing anew."""
    tree.mkdir(parents=True, exist_ok=True)
    wanted = set(files_of(PROJECT))
    for path in set(files_of(tree)) - wanted:
        (tree / path).unlink()
    for path in wanted:
        source, target = PROJECT / path, tree / path
        if not target.is_file() or source.read_bytes() != target.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


def tests_of(ctest, build):
    text = subprocess.run([ctest, "--test-dir", str(build), "--show-only=json-v1"], stdout=subprocess.PIPE,
                          text=True).stdout
    return [test for test in json.loads(text[text.index("{"):])["tests"] if "command" in test]


def seen():
    """What became of each mutant when it was last planted, by name."""
    rows = re.findall(r"^\| (\S+) +\| .* \| (.*?) +\|$", SEEN.read_text(), re.MULTILINE)
    return dict(row for row in rows if row[0] != "mutant")


def problems_of(mutants, names):
    """What would make a run on the mutants useless, or has not been seen, found without building any of them."""
    verdicts = seen()
    for name in sorted(set(verdicts) - {mutant.name for mutant in mutants}):
        yield f"{SEEN.name} has {name}, for which there is no patch"
    for mutant in mutants:
        verdict = verdicts.get(mutant.name)
        if verdict is None:
            yield f"{mutant.name} has never been planted: tools/mutate {mutant.name}"
        elif not verdict.startswith("SURVIVED") and verdict not in names:
            yield f"{mutant.name} was killed by a test that is gone: {verdict}"
        result = subprocess.run([*PATCH, "--dry-run"], cwd=PROJECT, input=mutant.file.read_text(), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if result.returncode != 0:
            yield f"{mutant.name} does not apply: {' '.join(result.stdout.split())}"
        if not any(re.search(mutant.tests, name) for name in names):
            yield f"{mutant.name}: no test matches {mutant.tests}"


class Bench:
    """The copy and its build folder."""

    def __init__(self, work):
        self.tree, self.build = work / "tree", work / "build"

    def run(self, *command, input=None):
        result = subprocess.run(command, cwd=self.tree, input=input, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
        return result.returncode, result.stdout

    def prepare(self, targets):
        copy_project(self.tree)
        flags = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG",
                 "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", "-DT3VP_BENCHMARKS=OFF"]
        code, text = self.run("cmake", "-S", ".", "-B", str(self.build), "-G", "Ninja", *flags)
        if code == 0:
            code, text = self.compile(*sorted(targets))
        if code != 0:
            raise Failure(text[-4000:] + "the project does not build")
        self.every_test = tests_of("ctest", self.build)

    def patch(self, mutant):
        return self.run(*PATCH, input=mutant.file.read_text())

    def compile(self, *targets):
        return self.run("cmake", "--build", str(self.build), "--parallel", str(os.cpu_count()), "--target", *targets)

    def failing(self, expression):
        """The name of the first test that fails, None if all pass."""
        tests = [test for test in self.every_test if re.search(expression, test["name"])]
        if not tests:
            raise Failure(f"no test matches {expression}")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for test, passed in zip(tests, pool.map(self.passes, tests)):
                if not passed:
                    pool.shutdown(cancel_futures=True)
                    return test["name"]
        return None

    def passes(self, test):
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        process = subprocess.Popen(
            test["command"], cwd=properties.get("WORKING_DIRECTORY", self.build), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (TEST_BYTES, TEST_BYTES)))
        try:
            return process.wait(TEST_SECONDS) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # with what the test has started
            except ProcessLookupError:
                pass
            process.wait()

    def verdict(self, mutant):
        """What became of the mutant, and whether that is as it should be."""
        originals = {path: (self.tree / path).read_bytes() for path in mutant.paths}
        try:
            code, text = self.patch(mutant)
            if code != 0:
                return f"does not apply: {text.strip()}", False
            code, text = self.compile(mutant.target)
            if code != 0:
                return "does not compile: " + " ".join(re.findall(r"error: .*", text)[:1]), False
            killer = self.failing(mutant.tests)
        finally:
            for path, content in originals.items():
                (self.tree / path).write_bytes(content)
        if killer:
            return killer, True
        return ("SURVIVED: " + mutant.reason if mutant.reason else "SURVIVED"), bool(mutant.reason)


def write(verdicts):
    """All mutants that have been planted, block by block."""
    planted = sorted((m.block, m.name, m.fault, verdicts[m.name]) for m in mutants_of([]) if m.name in verdicts)
    rows = [("mutant", "block", "fault", "killed by")]
    rows += [(name, block, fault.replace("|", "/"), verdict) for block, name, fault, verdict in planted]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    SEEN.write_text("# Planted bugs and the tests that have seen them\n\nWritten by `tools/mutate`.\n\n" + "\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(prog="tools/mutate", description="Plants bugs and looks whether the tests see them.")
    parser.add_argument("mutants", nargs="*", help="names or blocks; all if there are none")
    parser.add_argument("--list", action="store_true", help="only say what there is")
    parser.add_argument("--check", nargs=2, metavar=("CTEST", "BUILD"),
                        help="only look whether patches apply and their tests are in a build folder")
    parser.add_argument("--work", type=pathlib.Path, default=PROJECT / "build" / "mutants", help="folder of the copy")
    options = parser.parse_args()
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
    verdicts, wrong, survivors = seen(), 0, 0
    for mutant in chosen:
        verdict, right = bench.verdict(mutant)
        verdicts.pop(mutant.name, None)
        if right:
            verdicts[mutant.name] = verdict.replace("|", "/")
        write(verdicts)
        wrong += not right
        survivors += verdict.startswith("SURVIVED")
        print(f"{mutant.name}: {verdict}", flush=True)
    print(f"\n{len(chosen)} mutants, {survivors} survived, {wrong} without a reason or unusable; "
          f"{time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(failure, file=sys.stderr)
        sys.exit(2)
