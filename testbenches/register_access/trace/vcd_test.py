"""The value change dump of a run, read by a reader that shares nothing with its writer, tells what the text tells.

  vcd_test.py T3VP SOURCE_DIRECTORY
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

T3VP, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
del sys.argv[1:3]

LINE = re.compile(r"([\d.]+) ns (\S+) (reads|writes)( 0x[0-9a-f]+)?: (.*)\Z")
CHANGE = re.compile(r"(gpu\d+)\.(\w+)\.([\w.\[\]]+) = (?:(\w+) -> )?(\w+)\Z")


class Vcd:
    """IEEE 1364-2005, 18.2: tokens between white space; definitions, then changes."""

    def __init__(self, text):
        self.names, self.widths, self.changes = {}, {}, []
        tokens = iter(text.split())
        scopes = []
        for token in tokens:
            if token == "$scope":
                kind, name = next(tokens), next(tokens)
                assert kind == "module" and next(tokens) == "$end"
                scopes.append(name)
            elif token == "$upscope":
                scopes.pop()
                assert next(tokens) == "$end"
            elif token == "$var":
                kind, width, identifier, name = (next(tokens) for _ in range(4))
                rest = []
                while (part := next(tokens)) != "$end":
                    rest.append(part)
                assert kind in ("wire", "event"), kind
                assert rest == ([f"[{int(width) - 1}:0]"] if width != "1" else []), (name, rest)
                assert identifier not in self.names and all("!" <= c <= "~" for c in identifier)
                self.names[identifier] = tuple([*scopes, name])
                self.widths[identifier] = int(width)
            elif token == "$timescale":
                assert [next(tokens), next(tokens), next(tokens)] == ["1", "ps", "$end"]
            elif token == "$enddefinitions":
                assert next(tokens) == "$end" and not scopes
                break
            else:
                assert token in ("$version", "$comment"), token
                while next(tokens) != "$end":
                    pass
        assert len(set(self.names.values())) == len(self.names)
        self.read_changes(tokens)

    def read_changes(self, tokens):
        time = None
        for token in tokens:
            if token[0] == "#":
                assert time is None or int(token[1:]) >= time, token
                time = int(token[1:])
            elif token[0] == "b":
                identifier = next(tokens)
                assert len(token) - 1 <= self.widths[identifier]
                self.changes.append((time, self.names[identifier], None if token == "bx" else int(token[1:], 2)))
            elif token[0] in "01x":
                assert self.widths[token[1:]] == 1
                self.changes.append((time, self.names[token[1:]], {"0": 0, "1": 1, "x": None}[token[0]]))
            else:
                assert token in ("$dumpvars", "$end"), token


def trace(folder, name):
    file = pathlib.Path(folder, name)
    subprocess.run([T3VP, "run", SOURCE / "configs/runs/gemm-rs-4gpu.json", "--set", "workload.gemm.m=256", "--set",
                    "workload.gemm.n=256", "--set", "workload.gemm.k=64", "--out", pathlib.Path(folder, "out"),
                    "--register-trace", file], check=True, stdout=subprocess.DEVNULL)
    return file.read_text()


class Dump(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.lines = [LINE.match(line).groups() for line in trace(folder, "trace.txt").splitlines()]
            cls.vcd = Vcd(trace(folder, "trace.vcd"))

    def test_every_access_is_an_event(self):
        told = sorted((round(float(time) * 1000), "sent" if what.endswith(", sent") else kind, what.split(".")[0])
                      for time, _, kind, _, what in self.lines)
        events = sorted((time, name[2], name[0]) for time, name, _ in self.vcd.changes
                        if len(name) == 3 and name[2] in ("reads", "writes", "refused", "sent"))
        self.assertGreater(len(told), 500)
        self.assertEqual(events, told)

    def test_values_are_those_of_the_text(self):
        self.assertTrue(all(value is None for time, name, value in self.vcd.changes
                            if time == 0 and name[-1] not in ("reads", "writes")))
        values = {}  # by name the value at each time, the last of those at one time
        for time, name, value in self.vcd.changes:
            values.setdefault(name, {})[time] = value
        last = {}
        for time, _, _, _, what in self.lines:
            for change in what.split(", "):
                if not what.endswith(", sent") and (match := CHANGE.match(change)):
                    gpu, block, rest, _, new = match.groups()
                    if re.match(r"\d", new):
                        last[(gpu, block, *rest.split("."), round(float(time) * 1000))] = int(new, 0)
        self.assertGreater(len(last), 500)
        for (*name, time), value in last.items():
            self.assertEqual(values[tuple(name)][time], value, (name, time))


if __name__ == "__main__":
    unittest.main()
