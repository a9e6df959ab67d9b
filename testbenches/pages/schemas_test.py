"""Every JSON file of configs/ that has a schema names it, so that editors complete its keys.

  schemas_test.py SOURCE_DIRECTORY
"""
import json
import pathlib
import sys

CONFIGS = pathlib.Path(sys.argv[1]) / "configs"
KINDS = {"experiments": "experiment", "memory": "memory", "runs": "run", "systems": "system",
         "workloads": "models"}


def main():
    wrong = []
    files = sorted(file for file in CONFIGS.rglob("*.json") if file.parent.name != "schema")
    for file in files:
        named = json.loads(file.read_text(encoding="utf-8")).get("$schema", "nothing")
        kind = KINDS.get(file.relative_to(CONFIGS).parts[0], "")
        if (file.parent / named).resolve() != (CONFIGS / f"schema/{kind}.schema.json").resolve():
            wrong.append(f"{file}: $schema is {named}, expected the schema of a {kind or 'known kind of'} file")
    if len(files) < 20:
        wrong.append(f"only {len(files)} files are found in {CONFIGS}")
    if wrong:
        sys.exit("\n".join(wrong))


main()
