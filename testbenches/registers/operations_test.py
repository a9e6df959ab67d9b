"""Wrong descriptions of collective operations are refused with one line; what good ones give compiles as C and C++.

  operations_test.py SOURCE_DIRECTORY
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
SCRIPT = SOURCE / "models/registers/generate_workloads.py"
SHAPE = {"workload": "shape", "text": "A shape.", "builds_on": [], "given_by": "shape",
         "methods": [{"name": "one", "program": "shape", "text": "One."}],
         "enumerations": [{"enumeration": "op", "include": "t3/collective_op.h", "values": "operations"}],
         "structures": [{"structure": "shape", "key": "shape", "text": "It.", "arguments": [
             {"name": "op", "type": "op", "text": "The operation."}]}]}
PROGRAM = """
#include <stdio.h>
#include "t3/collective_staging.h"
int main(void) {
  struct t3_collective c = {T3_ADD_UP, T3_RING, T3_FP16, 10, 0, 0, {0, 0}, {0, 0, 0}, {{0, 0, 0, 0, 0, 0, T3_FP16}, 0}};
  enum t3_collective_op parts[2];
  const uint32_t ring = t3_collective_parts(&c, parts);
  printf("%u %d %d %u\\n", ring, (int)parts[0], (int)parts[1], (unsigned)t3_staging_bytes(&c, 4));
  c.algorithm = T3_IN_NETWORK;
  const uint32_t by_switch = t3_collective_parts(&c, parts);
  printf("%u %s %u\\n", by_switch, t3_traits_of(parts[0])->name, (unsigned)t3_staging_bytes(&c, 4));
  c.op = T3_SHIFT, c.algorithm = T3_DIRECT;
  printf("%u %u %u %u\\n", T3_COLLECTIVE_OPS, (unsigned)t3_staging_bytes(&c, 4), (unsigned)t3_received_elements(&c, 0, 4),
         t3_receives_apart(&c) ? 1u : 0u);
  return 0;
}
"""
OUTPUT = """2 0 1 32
1 add-up 0
4 77 10 1
"""
LAYOUT = """#include "t3/collective.h"
static inline uint64_t t3_shift_staging_bytes(const struct t3_collective* c, uint32_t gpus) {
  return c->algorithm == T3_DIRECT ? 77 : gpus;
}
"""


def operation(name, number, algorithms=("ring", "direct"), **more):
    return {"operation": name, "number": number, "text": f"Does {name}.", "algorithms": list(algorithms), **more}


def good():
    return [operation("sum", 0, adds=True, staging="sums"), operation("spread", 1),
            operation("add-up", 2, ("ring", "in-network"), adds=True, staging="sums", parts=["sum", "spread"],
                      whole_by=["in-network"]),
            operation("shift", 3, result="apart", staging="own")]


class Operations(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.directory = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def write(self, name, text):
        file = self.directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return str(file)

    def generate(self, operations, *options):
        room = self.write("shape/shape.arguments.json", json.dumps(SHAPE))
        self.write("operations/shift/shift_layout.h", LAYOUT)
        files = []
        for each in operations:
            folder = each["operation"].replace("-", "_") if isinstance(each["operation"], str) else "none"
            files.append(self.write(f"operations/{folder}/{folder}.operation.json", json.dumps(each)))
        return subprocess.run([sys.executable, "-B", SCRIPT, room, "--operations", *files, *options],
                              capture_output=True, text=True, check=False)

    def test_refusals(self):
        for expected, index, change in (
                ("operation \"Sum\" must be of lower-case words", 0, {"operation": "Sum"}),
                ("number -1 must be a whole number", 0, {"number": -1}),
                ("spread.operation.json: number 0 is sum's; 3 follows", 1, {"number": 0}),
                ("shift.operation.json: number 9 must be 3", 3, {"number": 9}),
                ("has no algorithm", 1, {"algorithms": []}),
                ("\"algorithms\" must be some of ring, direct", 1, {"algorithms": ["tree"]}),
                ("\"algorithms\" must be some of ring, direct", 1, {"algorithms": [{}]}),
                ("\"result\" must be one of in-place, apart, parts", 1, {"result": "elsewhere"}),
                ("\"adds\" must be true or false", 0, {"adds": 1}),
                ("\"staging\" must be \"own\" where there is shift_layout.h", 3, {"staging": "none"}),
                ("\"staging\" must be \"own\" where there is spread_layout.h", 1, {"staging": "own"}),
                ("\"parts\" must be the names of two operations", 2, {"parts": ["sum"]}),
                ("part \"halve\" must be one of sum, spread", 2, {"parts": ["sum", "halve"]}),
                ("part add-up must be one kernel", 2, {"parts": ["sum", "add-up"]}),
                ("part sum does not go by in-network", 2, {"whole_by": []}),
                ("\"whole_by\" stands beside \"parts\"", 2, {"parts": []}),
                ("unknown \"size\"", 1, {"size": 2})):
            with self.subTest(expected):
                operations = good()
                operations[index].update(change)
                result = self.generate(operations)
                self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1), result.stderr)
                self.assertIn(".operation.json: ", result.stderr)
                self.assertIn(expected, result.stderr)

    def test_words_of_a_run_file(self):
        page = self.directory / "page.md"
        self.assertEqual(self.generate(good(), "--docs", str(page)).stderr, "")
        text = page.read_text(encoding="utf-8")
        self.assertIn("| `op` | `sum`, `spread`, `add-up`, `shift` |", text)
        self.assertIn("| 3 | `shift` | `ring`, `direct` | Does shift. |", text)

    def test_headers(self):
        table = self.directory / "table.c"
        result = self.generate(good(), "--c", str(self.directory / "c"), "--operation-table", str(table))
        self.assertEqual(result.stderr, "")
        self.assertIn("    &t3_add_up_operation,\n    &t3_shift_operation,\n};", table.read_text(encoding="utf-8"))
        scripts = [sys.executable, "-B", SOURCE / "models/registers/generate.py", *sorted(SOURCE.glob("models/*/*.registers.json")),
                   "--enumerations", *sorted(SOURCE.glob("models/*/*.enumeration.json")), "--device", SOURCE / "models/gpu.json",
                   "--c", self.directory / "registers"]
        subprocess.run([str(word) for word in scripts], check=True)
        include = ["-I", self.directory / "c", "-I", self.directory / "registers", "-I", SOURCE / "abi/include",
                   "-I", SOURCE / "firmware/include"]
        strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Werror"]
        for compiler, suffix, options in (("cc", "c", ["-std=c11"]), ("c++", "cpp", ["-std=c++17"])):
            source, program = self.write(f"main.{suffix}", PROGRAM), self.directory / f"program_{suffix}"
            subprocess.run([compiler, *options, *strict, *include, source, "-o", program], check=True)
            self.assertEqual(subprocess.run([program], check=True, capture_output=True, text=True).stdout, OUTPUT)


if __name__ == "__main__":
    unittest.main()
