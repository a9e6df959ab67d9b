"""Checks that CTest runs every test case of the test binaries, each by a name that selects it and nothing else.

usage: same_tests.py CTEST BUILD_FOLDER BINARY ...
"""
import collections
import json
import pathlib
import re
import subprocess
import sys


def output_of(command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return result.stdout


def listed_by(binary, *filters):
    """Catch2 2 returns the number of tests as its exit code here."""
    return output_of([binary, *filters, "--list-test-names-only"]).splitlines()


def escaped(name):
    return re.sub(r"([,\[\]])", r"\\\1", name)


def problems_of(binary, entries):
    """`entries`: name and command of each CTest test that starts the binary."""
    names = listed_by(binary) if pathlib.Path(binary).exists() else []
    if not names:
        yield "has no tests or is not built"
        return
    for name, count in collections.Counter(names).items():
        if count > 1:
            yield f"has {count} tests of the name: {name}"
        if re.search(r'[;"\\]|^[~*]|\*$|^\s|\s$', name):
            yield f"has a name that CTest or Catch2 would read as something else: {name}"
        if name.find(": ") > 70:  # Catch2 indents the lines that follow, and never ends when it has no room
            yield f"has a name whose colon leaves Catch2 no room to print a failure: {name}"
    asked = [command[1] for _, command in entries]
    for missing in set(map(escaped, names)) - set(asked):
        yield f"has a test that CTest does not run: {missing}"
    for unknown in set(asked) - set(map(escaped, names)):
        yield f"does not have the test that CTest asks for: {unknown}"
    for name, command in entries:
        if command[2:4] != ["-w", "NoTests"]:
            yield f"is started without -w NoTests: {name}"
    if sorted(listed_by(binary, ",".join(asked))) != sorted(names):
        yield "does not select all its tests by the names that CTest gives it"


def main(ctest, folder, *binaries):
    shown = json.loads(output_of([ctest, "--test-dir", folder, "--show-only=json-v1"]))
    tests = [(test["name"], test["command"]) for test in shown["tests"] if "command" in test]
    problems = [f"{binary} {problem}" for binary in binaries
                for problem in problems_of(binary, [entry for entry in tests if entry[1][0] == binary])]
    print("\n".join(problems) if problems else f"{len(binaries)} binaries")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
