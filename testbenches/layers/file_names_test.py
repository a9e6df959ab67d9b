"""A file's name says which one is meant: no two headers share one, and no two sources of a library; tests end in _test.

  file_names_test.py SOURCE_DIRECTORY sources.txt

sources.txt is written at configure time: a line "<target>: <source> ..." for each library and executable. Generated files are named
after their descriptions, which are the names of blocks, and are not looked at.
"""

import collections
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1])
SOURCES = sys.argv[2]
del sys.argv[1:3]

# Folders that have headers. The build folder and what a test writes are not among them.
ROOTS = ("abi", "benchmarks", "examples", "firmware", "models", "platform", "testbenches")



def shared(files):
    """The paths by name, of the names that more than one file has."""
    by_name = collections.defaultdict(list)
    for file in files:
        by_name[pathlib.Path(file).name].append(str(file))
    return {name: sorted(paths) for name, paths in by_name.items() if len(paths) > 1}


class FileNames(unittest.TestCase):
    def test_no_two_headers_share_a_name(self):
        headers = [file.relative_to(SOURCE) for root in ROOTS for file in sorted((SOURCE / root).rglob("*.h"))]
        self.assertGreater(len(headers), 100)
        self.assertEqual(shared(headers), {})

    def test_no_two_sources_of_a_library_share_a_name(self):
        lines = pathlib.Path(SOURCES).read_text(encoding="utf-8").splitlines()
        self.assertGreater(len(lines), 30)
        found = {(target, name): paths for target, sources in (line.split(": ", 1) for line in lines)
                 for name, paths in shared(sources.split()).items()}
        self.assertEqual(found, {})

    def test_a_test_is_called_what_test(self):
        named_otherwise = [str(file.relative_to(SOURCE)) for root in ("testbenches", "platform")
                           for file in sorted((SOURCE / root).rglob("*.cpp"))
                           if "TEST_CASE(" in file.read_text(encoding="utf-8") and not file.stem.endswith("_test")]
        self.assertEqual(named_otherwise, [])


if __name__ == "__main__":
    unittest.main()
