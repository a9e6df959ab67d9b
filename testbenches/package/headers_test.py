"""Compiles every installed header by itself, against the installed and moved package alone.

  headers_test.py SOURCE_DIRECTORY BINARY_DIRECTORY [--slow]

Headers that include SystemC, themselves or through others, are compiled behind a precompiled SystemC, which is most of
what they take. With --slow they are not.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import sys
import subprocess

from installed import moved_package

SYSTEMC = ("systemc", "tlm", "tlm_utils/simple_initiator_socket.h", "tlm_utils/simple_target_socket.h")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


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

    def uses_systemc(self, header, seen):
        seen.add(header)
        for path in INCLUDE.findall(header.read_text(encoding="utf-8")):
            if path in SYSTEMC:
                return True
            for root in self.roots:
                other = root / path
                if other.is_file() and other not in seen and self.uses_systemc(other, seen):
                    return True
        return False


def compiler(headers, language):
    words = ["g++", "-std=c++17", "-I/usr/include/eigen3", f"-I{headers.roots[0]}"] if language == "c++" else ["gcc", "-std=c11"]
    return [*words, f"-I{headers.root}", "-Wall", "-Wextra", "-Werror", "-Wno-pragma-once-outside-header"]


def precompile(headers, folder):
    """A header with SystemC, to include first."""
    header = folder / "systemc_first.h"
    header.write_text("".join(f"#include <{name}>\n" for name in SYSTEMC), encoding="utf-8")
    subprocess.run([*compiler(headers, "c++"), "-x", "c++-header", str(header), "-o", f"{header}.gch"], check=True)
    return header


def mistakes(headers, header, first):
    """Of a header alone: the first line that the compiler says, or nothing."""
    languages = ["c++"] if headers.is_for_models(header) else ["c", "c++"]
    for language in languages:
        command = [*compiler(headers, language), "-fsyntax-only"]
        if first and language == "c++" and headers.uses_systemc(header, set()):
            command += ["-include", str(first)]
        done = subprocess.run([*command, "-x", language, "-"], input=f'#include "{headers.name(header)}"\n', text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if "error" in line]
            return f"{headers.name(header)} ({language}): {lines[0] if lines else done.stderr.strip()}"
    return ""


def main():
    if shutil.which("g++") is None:
        sys.exit("g++ expected")
    with moved_package(pathlib.Path(sys.argv[2])) as place:
        headers = Headers(place / "package")
        found = headers.all()
        first = None if "--slow" in sys.argv else precompile(headers, place)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [line for line in pool.map(lambda header: mistakes(headers, header, first), found) if line]
        if len(found) < 200 or wrong:
            sys.exit("\n".join([*wrong, f"{len(found)} headers, {len(wrong)} do not compile by themselves"]))


main()
