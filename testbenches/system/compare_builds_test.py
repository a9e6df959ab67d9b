"""Checks tools/compare-builds with programs that answer at once: what differs, what was renamed, what is ignored.

usage: compare_builds_test.py SOURCE_FOLDER
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(sys.argv.pop(1)) / "tools" / "compare-builds"

# Writes the settings that it was given into its report, and REPORT on top.
PROGRAM = """#!/usr/bin/env python3
import json, pathlib, sys
report = json.loads(REPORT)
arguments = sys.argv[1:]
report["run"] = arguments[1].split("/")[-1]
report["settings"] = sorted(a for a in arguments[4:] if a != "--set")
pathlib.Path(arguments[3], "report.json").write_text(json.dumps(report))
sys.exit(report.pop("exit", 0))
"""


def statistic(name, value, unit="ns", text="what it is"):
    return {"name": name, "unit": unit, "text": text, "value": value}


class CompareBuilds(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)
        self.base = {"version": "1", "method": "t3", "time_ns": {"total": 5.0}, "links": [{"from": 0}, {"from": 1}],
                     "statistics": [statistic("gpu0.dma.bytes", 7), statistic("gpu1.dma.bytes", 8)],
                     "host": {"wall_s": 1}}
        self.settings = {"method": "t3"}
        self.renames = ""

    def changed(self, **keys):
        return {**self.base, **keys}

    def program(self, name, report):
        file = self.at / name
        file.write_text(PROGRAM.replace("REPORT", repr(json.dumps(report)), 1))
        file.chmod(0o755)
        return file

    def compare(self, old, new, *more):
        (self.at / "runs.json").write_text(json.dumps(
            {"run": "run.json", "set": {}, "groups": [{"name": "group", "runs": {"run": self.settings}}]}))
        (self.at / "renames").write_text(self.renames)
        done = subprocess.run([TOOL, self.program("old", old), self.program("new", new), "--old-tree", self.at,
                               "--new-tree", self.at, "--runs", self.at / "runs.json", "--renames", self.at / "renames",
                               *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def expect(self, code, text, old, new, *more):
        found, out = self.compare(old, new, *more)
        self.assertEqual(found, code, out)
        self.assertIn(text, out)

    def test_the_same(self):
        self.expect(0, "1 runs, 0 differ; ", self.base, self.base)

    def test_ignored(self):
        other = self.changed(version="2", config_hash="x", workload={"m": 1}, system="s", host={"wall_s": 9})
        other["statistics"] = [statistic("gpu1.dma.bytes", 8, text="other"), statistic("gpu0.dma.bytes", 7)]
        self.expect(0, " 0 differ", self.base, other)

    def test_a_value(self):
        self.expect(1, "group-run: /time_ns/total: 5.0 -> 5.5\n", self.base, self.changed(time_ns={"total": 5.5}))

    def test_a_key_more_and_one_less(self):
        self.expect(1, "/time_ns/gemm: absent -> 1", self.base, self.changed(time_ns={"total": 5, "gemm": 1}))
        self.expect(1, "/links/1/from: 1 -> absent", self.base, self.changed(links=[{"from": 0}]))

    def test_a_statistic(self):
        other = self.changed(statistics=[statistic("gpu0.dma.bytes", 7), statistic("gpu1.dma.bytes", 9)])
        self.expect(1, "/statistics/gpu1.dma.bytes/value: 8 -> 9", self.base, other)
        other["statistics"][1] = statistic("gpu1.dma.bytes", 8, unit="bytes")
        self.expect(1, "/statistics/gpu1.dma.bytes/unit: ns -> bytes", self.base, other)

    def test_an_exit_code(self):
        self.expect(1, "the new program's exit code is 1, expected 0", self.base, self.changed(exit=1))
        self.expect(1, "the old program's exit code is 1, expected 0", self.changed(exit=1), self.changed(exit=1))

    def test_renames(self):
        self.settings = {"method": "fused", "system": "TREE/new.json", "system.kernels.ring": {"block": 4, "steps": 2}}
        self.renames = """# Names.
value method t3 fused
file old.json new.json
report /links/*/from /links/*/source
statistic gpu*.dma.bytes gpu*.dma.payload   # of every GPU
setting system.compute.ring_block system.kernels.ring.block
setting system.ring system.kernels.ring
"""
        old = self.base
        new = self.changed(method="fused", links=[{"source": 0}, {"source": 1}],
                           statistics=[statistic("gpu0.dma.payload", 7), statistic("gpu1.dma.payload", 8)])
        code, out = self.compare(old, new)
        self.assertEqual(code, 1, out)  # the settings as the programs have been given them, and nothing else
        self.assertIn(f"group-run: /settings/0: method=t3 -> method=fused; /settings/1: "
                      f"system.compute.ring_block=4 -> system.kernels.ring={{\"block\": 4, \"steps\": 2}}; "
                      f"/settings/2: system.ring={{\"steps\": 2}} -> system={self.at}/new.json; "
                      f"/settings/3: system={self.at}/old.json -> absent\n", out)

    def test_a_rename_of_no_use(self):
        self.renames = "# Names.\nstatistic gpu*.dma.blocks gpu*.dma.commands\n"
        text = "renames:2: 'statistic gpu*.dma.blocks gpu*.dma.commands' was of no use"
        self.expect(1, text, self.base, self.base)
        self.expect(0, "0 unused", self.base, self.base, "--only", "group")

    def test_bad_lists(self):
        self.renames = "setting only-one\n"
        self.expect(2, "renames:1: found 'setting only-one', expected setting OLD NEW", self.base, self.base)
        self.renames = ""
        self.expect(2, "no run of", self.base, self.base, "--only", "nothing")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
