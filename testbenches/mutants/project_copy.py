"""A copy of the project that is built by itself, and its tests one by one."""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
NOT_COPIED = {"build", "out", ".git"}
TEST_SECONDS = 90  # of a test in a mutant, which may hang
TEST_BYTES = 8 << 30  # of address space; a mutant may fill memory
FLAGS = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG -Wno-format-truncation", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
         "-DT3VP_BENCHMARKS=OFF"]


# One changed line rebuilds one file where ccache makes up for the headers that each file reads by itself.
ONE_BY_ONE = ["-DCMAKE_UNITY_BUILD=OFF", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "-DCMAKE_C_COMPILER_LAUNCHER=ccache",
              "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]


class Failure(Exception):
    """What ends the whole run."""


def files_of(root):
    for folder, folders, names in os.walk(root):
        if pathlib.Path(folder) == root:
            folders[:] = [name for name in folders if name not in NOT_COPIED]
        for name in names:
            yield (pathlib.Path(folder) / name).relative_to(root)


def copy_project(tree, changes=None):
    """Only what differs is written, so that a second run builds nothing anew. `changes` has other contents of some files, as bytes."""
    changes = changes or {}
    tree.mkdir(parents=True, exist_ok=True)
    wanted = set(files_of(PROJECT)) | set(changes)
    for path in set(files_of(tree)) - wanted:
        (tree / path).unlink()
    for path in wanted:
        target = tree / path
        content = changes[path] if path in changes else (PROJECT / path).read_bytes()
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            if path not in changes:
                shutil.copymode(PROJECT / path, target)


def tests_of(ctest, build):
    text = subprocess.run([ctest, "--test-dir", str(build), "--show-only=json-v1"], stdout=subprocess.PIPE,
                          text=True).stdout
    return [test for test in json.loads(text[text.index("{"):])["tests"] if "command" in test]


def passes(test, build, seconds=TEST_SECONDS, environment=None):
    """Whether a test of CTest's list ends well in this time, with these environment variables besides the usual ones."""
    properties = {p["name"]: p["value"] for p in test.get("properties", [])}
    process = subprocess.Popen(
        test["command"], cwd=properties.get("WORKING_DIRECTORY", build), start_new_session=True,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (TEST_BYTES, TEST_BYTES)))
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # with what the test has started
        except ProcessLookupError:
            pass
        process.wait()


class Copy:
    def __init__(self, work):
        self.tree, self.build = work / "tree", work / "build"

    def run(self, *command, input=None):
        result = subprocess.run(command, cwd=self.tree, input=input, text=True, errors="replace", stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
        return result.returncode, result.stdout

    def configure(self):
        flags = FLAGS + (ONE_BY_ONE if shutil.which("ccache") else [])
        code, text = self.run("cmake", "-S", ".", "-B", str(self.build), "-G", "Ninja", *flags)
        if code != 0:
            raise Failure(text[-4000:] + "the project cannot be configured")

    def compile(self, *targets):
        return self.run("cmake", "--build", str(self.build), "--parallel", str(os.cpu_count()), "--target", *targets)

    def compile_all_that_compiles(self, *targets):
        return self.run("ninja", "-C", str(self.build), "-k", "0", *targets)

    def tests(self, expression):
        return [test for test in tests_of("ctest", self.build) if re.search(expression, test["name"])]
