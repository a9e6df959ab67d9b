"""The fingerprint of what simulates changes with code and numbers, and not with comments, texts or tests.

  fingerprint_test.py SOURCE_DIRECTORY
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, sys.argv[1] + "/cmake")
from simulation_fingerprint import fingerprint  # noqa: E402: it is another folder's

FILES = {"models/a/a.cpp": 'int a = 1;  // one\nconst char* s = "// no comment";\n',
         "models/a/a.parameters.json": '{"parameters": [{"name": "b", "default": 2, "text": "Two."}]}',
         "models/a/tests/a_test.cpp": "int t;\n", "platform/cli/c.cpp": "int c;\n", "firmware/README.md": "Firmware.\n"}
SAME = [("models/a/a.cpp", "// one", "/* uno */"), ("models/a/a.parameters.json", "Two.", "Deux."),
        ("models/a/tests/a_test.cpp", "t", "u"), ("platform/cli/c.cpp", "c", "d"), ("firmware/README.md", "F", "f"),
        ("models/a/a.cpp", "int a", "int  a")]
OTHER = [("models/a/a.cpp", "1;", "2;"), ("models/a/a.cpp", "no comment", "comment"),
         ("models/a/a.parameters.json", "2", "3")]


def main():
    with tempfile.TemporaryDirectory() as home:
        root = pathlib.Path(home)
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        first = fingerprint(root)
        for changes, is_same in ((SAME, True), (OTHER, False)):
            for name, before, after in changes:
                assert before in FILES[name], (name, before)
                (root / name).write_text(FILES[name].replace(before, after))
                assert (fingerprint(root) == first) == is_same, (name, before, after)
                (root / name).write_text(FILES[name])
        assert fingerprint(root, ["another compiler"]) != first
        (root / "models/b.h").write_text("int b;\n")
        assert fingerprint(root) != first


main()
