"""Compiles the installed headers against the installed and moved package alone.

  headers_test.py SOURCE_DIRECTORY BINARY_DIRECTORY [--slow]

Headers of models take minutes. They are compiled all together, once in the order of their names and once backwards.
With --slow each is compiled by itself, as those in C always are.
"""

import concurrent.futures
import os
import pathlib
import shutil
import sys
import subprocess

from installed import moved_package


class Headers:
    """The headers of the package; those for C++ models are below t3vp/."""

    def __init__(self, package):
        self.root = package / "include"
        self.roots = [self.root / "t3vp", self.root]

    def all(self):
        return sorted(self.root.rglob("*.h"))

    def is_for_models(self, header):
        return self.roots[0] in header.parents

    def name(self, header):
        return header.relative_to(self.roots[0] if self.is_for_models(header) else self.root).as_posix()


def compiler(headers, language):
    words = ["g++", "-std=c++17", "-I/usr/include/eigen3", f"-I{headers.roots[0]}"] if language == "c++" else ["gcc", "-std=c11"]
    return [*words, f"-I{headers.root}", "-Wall", "-Wextra", "-Werror", "-Wno-pragma-once-outside-header"]


def mistake(headers, group, language):
    """Of headers in one translation unit: the first line that the compiler says, or nothing."""
    names = [headers.name(header) for header in group]
    done = subprocess.run([*compiler(headers, language), "-fsyntax-only", "-x", language, "-"], text=True, check=False,
                          input="".join(f'#include "{name}"\n' for name in names), capture_output=True)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if "error" in line]
    return f"{names[0]} ({language}): {lines[0] if lines else done.stderr.strip()}"


def units(headers, slow):
    """Groups of headers with their language."""
    models = [header for header in headers.all() if headers.is_for_models(header)]
    for header in headers.all():
        if header not in models:
            yield from [([header], "c"), ([header], "c++")]
    yield from [([header], "c++") for header in models] if slow else [(models, "c++"), (models[::-1], "c++")]


def main():
    if shutil.which("g++") is None:
        sys.exit("g++ expected")
    with moved_package(pathlib.Path(sys.argv[2])) as place:
        headers = Headers(place / "package")
        found = headers.all()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            lines = pool.map(lambda unit: mistake(headers, *unit), units(headers, "--slow" in sys.argv))
            wrong = [line for line in lines if line]
        if len(found) < 200 or wrong:
            sys.exit("\n".join([*wrong, f"{len(found)} headers, {len(wrong)} groups of them do not compile"]))


main()
