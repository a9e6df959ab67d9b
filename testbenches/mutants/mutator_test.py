"""What the mutator makes of small texts. usage: mutator_test.py C_COMPILER CXX_COMPILER"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import changed
import near_tests
import operators
import schemata

COMPILERS = {".c": "cc", ".cpp": "c++"}


def body(code, returns="void"):
    return f"{returns} f(int a, int b) {{\n{code}\n}}\n"


def mutated(text, lines=None):
    """The mutated lines, in the order of the text."""
    return [schemata.shown(text, mutation)[1] for mutation in operators.mutations_of(text, lines)[0]]


def skipped(text):
    return operators.mutations_of(text)[1]


class Operators(unittest.TestCase):
    def check(self, code, *expected, returns="void"):
        self.assertEqual(sorted(mutated(body(code, returns))), sorted(expected))

    def test_comparisons_move_their_boundary(self):
        for before, after in (("<", "<="), ("<=", "<"), (">", ">="), (">=", ">")):
            self.check(f"if (a {before} b) return;", f"if (a {after} b) return;", f"if (!(a {before} b)) return;")

    def test_a_single_equality_is_negated_once(self):
        self.check("if (a == b) return;", "if (a != b) return;")
        self.check("while (a != b) return;", "while (a == b) return;")

    def test_and_is_or(self):
        self.check("if (p && q) return;", "if (p || q) return;", "if (!(p && q)) return;")

    def test_a_not_is_dropped_and_not_doubled(self):
        self.check("if (!p) return;", "if (p) return;")

    def test_integers_move_by_one_and_keep_their_form(self):
        self.check("a = 7;", "a = 8;", "a = 6;", "")
        self.check("a = 0x10u;", "a = 0x11u;", "a = 0xfu;", "")
        self.check("a = 0;", "a = 1;", "")
        self.check("a = 1;", "a = 0;", "")
        self.check("a = 1'000;", "a = 1001;", "a = 999;", "")

    def test_other_numbers_stay(self):
        self.check("a = 0.5;", "")
        self.check("a = 017;", "")

    def test_sums_are_differences(self):
        self.check("return a + b;", "return a - b;", returns="int")
        self.check("a += b;", "a -= b;", "")

    def test_calls_and_assignments_are_dropped(self):
        for code in ("g(a);", "x.y->g(a);", "std::swap(a, b);", "++a;", "a--;", "v[a] = b;", "*p = b;", "g<int>(a);"):
            self.check(code, "")

    def test_declarations_are_not_dropped(self):
        for code in ("int c = a;", "const auto c = a;", "std::vector<int> c(a);", "Thing c{a};", "Thing* c = g();", "Thing c;"):
            self.check(code)

    def test_what_is_returned_is_negated_where_it_is_a_bool(self):
        self.check("return g(a);", "return !(g(a));", returns="bool")
        self.check("return g(a);", returns="int")
        self.assertEqual(mutated("int f(bool p) { return g(p); }"), [])
        self.check("return true;", "return false;", returns="bool")
        self.check("return a < b;", "return a <= b;", "return !(a < b);", returns="int")

    def test_the_condition_before_a_question_mark_is_negated_alone(self):
        self.check("return p ? a : b;", "return !(p) ? a : b;", returns="int")
        self.check("return a == b ? a : b;", "return a != b ? a : b;", returns="int")

    def test_loops(self):
        self.check("for (int i = 0; i < b; ++i) return;", "for (int i = 1; i < b; ++i) return;", "for (int i = 0; i <= b; ++i) return;")
        self.check("for (const auto& x : g(a - b)) return;", "for (const auto& x : g(a + b)) return;")

    def test_lambdas_are_gone_into(self):
        self.check("auto c = [this](int x) -> bool { return g(x); };", "auto c = [this](int x) -> bool { return !(g(x)); };")

    def test_no_expressions_are_skipped(self):
        for code, places in (("case 3: break;", 1), ("static const int c = 2;", 1), ("static_assert(sizeof(int) == 4);", 2), ("int c[3];", 1),
                             ("constexpr int c = 2;", 1), ("CHECK(a == b);", 1), ("x = sizeof(int[2]);", 1)):
            with self.subTest(code):
                self.assertEqual(set(mutated(body(code))) - {""}, set())
                self.assertEqual(skipped(body(code)), places)

    def test_templates_brackets_are_no_comparisons(self):
        self.check("std::array<int, 3> c;")
        self.check("return g<int>(a) < std::max<std::map<int, int>>(b);", "return g<int>(a) <= std::max<std::map<int, int>>(b);",
                   "return !(g<int>(a) < std::max<std::map<int, int>>(b));", returns="bool")

    def test_comments_strings_and_directives_stay(self):
        self.check('// a == 1\ng("a == 1", \'1\'); /* 1 */\n#if A == 1\n#define B \\\n  1\n#endif', "/* 1 */")

    def test_outside_functions_nothing_is_mutated(self):
        text = "enum { a = 3 };\nint b = 4;\nstruct S {\n  int c = 5;\n  constexpr int g() { return 6; }\n};\ntemplate <int N = 7>\nvoid f(int d = 8);\n"
        self.assertEqual(mutated(text), [])
        self.assertEqual(skipped(text), 6)

    def test_members_of_classes_and_constructors_bodies_are_code(self):
        self.assertEqual(mutated("struct S {\n  S() : a_(1), b_{2} {\n    a_ = 0;\n  }\n  int g() const { return 0; }\n};"),
                         ["", "a_ = 1;", "int g() const { return 1; }"])

    def test_only_the_given_lines(self):
        self.assertEqual(mutated(body("a = 0;\nb = 0;"), {3}), ["", "b = 1;"])


class Schemata(unittest.TestCase):
    CODE = ('int printf(const char*, ...);\nint twice(int a) {\n  int b = 0;\n  if (a > 0) b += 2;\n  else b = 1;\n  for (int i = 0; i < 3; ++i) b += a + i;\n'
            '  return b == 7 ? b : b - 1;\n}\nint main(void) {\n  printf("%d\\n", twice(2));\n  return 0;\n}\n')

    def test_each_mutant_behind_its_switch_does_what_its_text_does(self):
        mutations = operators.mutations_of(self.CODE, range(2, 8))[0]
        self.assertGreater(len(mutations), 10)
        numbered = list(enumerate(mutations, 1))
        for suffix, compiler in COMPILERS.items():
            code = self.CODE if suffix == ".c" else self.CODE.replace("int printf", 'extern "C" int printf')
            offset = len(code) - len(self.CODE)
            with self.subTest(suffix), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                moved = [(n, operators.Mutation(m.kind, m.begin + offset, m.end + offset, [(b + offset, e + offset, t) for b, e, t in m.edits],
                                                m.what, m.line)) for n, m in numbered]
                (folder / "switch.h").write_text(schemata.header(len(moved), os.O_WRONLY | os.O_CREAT | os.O_APPEND))
                text, _ = schemata.write(code, moved, folder / "switch.h")
                switched = self.program(folder / f"switched{suffix}", text, compiler)
                log = folder / "reached"
                self.assertEqual(self.output(switched, T3VP_MUTANTS_REACHED=str(log)), self.output(self.program(folder / f"plain{suffix}", code, compiler)))
                self.assertEqual(len(log.read_text().split()), len(set(log.read_text().split())))
                self.assertTrue({int(line) for line in log.read_text().split()} <= {n for n, _ in moved})
                one_by_one = [code[:m.begin] + m.applied(code) + code[m.end:] for _, m in moved]
                for (number, mutation), plain in zip(moved, one_by_one):
                    if suffix == ".c":  # a compilation each
                        expected = self.output(self.program(folder / f"plain{suffix}", plain, compiler))
                        self.assertEqual(self.output(switched, T3VP_MUTANT=str(number)), expected, plain)

    def program(self, file, text, compiler):
        file.write_text(text)
        subprocess.run([compiler, "-w", "-o", file.with_suffix(".run"), file], check=True)
        return file.with_suffix(".run")

    def output(self, program, **environment):
        try:
            return subprocess.run([program], env={**os.environ, **environment}, stdout=subprocess.PIPE, timeout=2).stdout
        except subprocess.TimeoutExpired:
            return None

    def test_lines_tell_their_mutants(self):
        text, owners = schemata.write(body("a = 0;\ng(b);"), list(enumerate(operators.mutations_of(body("a = 0;\ng(b);"))[0], 1)), "x.h")
        for line, number in owners.items():
            if "T3VP_MUTANT" in text.splitlines()[line - 1]:
                self.assertIn(f"T3VP_MUTANT({number})", text.splitlines()[line - 1])
        self.assertEqual(set(owners.values()), {1, 2, 3})


class Choice(unittest.TestCase):
    def test_lines_of_a_difference(self):
        text = "--- a/models/a.h\n+++ b/models/a.h\n@@ -3 +3,2 @@ x\n+a\n+b\n@@ -9,2 +10,0 @@\n-a\n-b\n@@ -20 +19 @@\n-a\n+b\n--- a/b.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
        self.assertEqual(changed.lines_of_diff(text), {pathlib.Path("models/a.h"): {3, 4, 19}})

    def test_nearest_benches(self):
        with tempfile.TemporaryDirectory() as name:
            project = pathlib.Path(name)
            files = {"models/dma/engine.h": "", "models/dma/engine.cpp": '#include "engine.h"', "models/gpu/gpu.h": '#include "dma/engine.h"',
                     "testbenches/system/CMakeLists.txt": "t3vp_testbench(system\n", "testbenches/gpu/CMakeLists.txt": "t3vp_testbench(gpu\n",
                     "testbenches/dma/CMakeLists.txt": "  t3vp_testbench(dma SOURCES x\n", "testbenches/gpu/test.cpp": '#include "gpu/gpu.h"'}
            for path, text in files.items():
                (project / path).parent.mkdir(parents=True, exist_ok=True)
                (project / path).write_text(text)
            includes = near_tests.Includes(project)
            self.assertEqual(near_tests.nearest(pathlib.Path("models/dma/engine.cpp"), project, includes), ["dma", "gpu", "system"])
            self.assertEqual(near_tests.nearest(pathlib.Path("models/gpu/gpu.h"), project, includes, 1), ["gpu"])
            self.assertEqual(includes.source_with(pathlib.Path("models/dma/engine.h")), pathlib.Path("models/dma/engine.cpp"))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        COMPILERS = dict(zip(COMPILERS, sys.argv[1:]))
    unittest.main(argv=sys.argv[:1])
