"""The fingerprint of what simulates: two programs with the same one give the same times and metrics.

  simulation_fingerprint.py SOURCE_DIRECTORY                     prints it
  simulation_fingerprint.py SOURCE_DIRECTORY HEADER TEXT ...     writes the header; texts, as the compiler's version, count

It covers the sources of models, firmware, configuration, run and report. Comments and texts of descriptions do not count,
nor does what only starts, shows, compares or debugs runs, nor tests.
"""
import hashlib
import json
import pathlib
import re
import sys

FOLDERS = ("abi", "cmake", "firmware", "models", "platform/config", "platform/guests", "platform/io", "platform/node",
           "platform/partition", "platform/progress", "platform/report", "platform/run", "platform/system", "platform/workloads")
WITHOUT = ("platform/report/result_table", "platform/report/comparison", "platform/report/progress_line",
           "platform/report/warnings", "models/registers/generator/keys", "models/registers/generator/reference",
           "models/registers/generator/workload_page", "platform/report/metric_", "platform/report/CMakeLists",
           "cmake/simulation_fingerprint", "cmake/Install")
SUFFIXES = {".c", ".cpp", ".h", ".S", ".ld", ".json", ".py", ".cmake", ".txt"}
TEXTS = {"text", "title", "description", "default_text", "examples", "$schema"}
CODE = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.DOTALL)


def without_texts(value):
    if isinstance(value, dict):
        return {key: without_texts(member) for key, member in value.items() if key not in TEXTS}
    return [without_texts(member) for member in value] if isinstance(value, list) else value


def content(file):
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".json":
        return json.dumps(without_texts(json.loads(text)))
    if file.suffix in {".c", ".cpp", ".h", ".S"}:
        text = CODE.sub(lambda match: match[1] or " ", text)
    return " ".join(text.split())


def files(root):
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            name = str(file.relative_to(root))
            if file.suffix in SUFFIXES and "tests" not in file.parts and not name.startswith(WITHOUT):
                yield name, file


def fingerprint(root, texts=()):
    found = hashlib.sha256()
    for name, file in files(root):
        found.update(f"{name}\0{content(file)}\0".encode())
    for text in texts:
        found.update(text.encode())
    return found.hexdigest()[:16]


def main():
    root = pathlib.Path(sys.argv[1])
    if len(sys.argv) == 2:
        print(fingerprint(root))
        return
    header = pathlib.Path(sys.argv[2])
    text = f'constexpr const char* simulation_fingerprint_of_sources = "{fingerprint(root, sys.argv[3:])}";\n'
    if not header.exists() or header.read_text(encoding="utf-8") != text:
        header.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
