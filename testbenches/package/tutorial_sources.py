"""Examples whose files are those that tutorials show: the page is their source.

  tutorial_sources.py SOURCE_DIRECTORY            fails when an example differs from its page
  tutorial_sources.py SOURCE_DIRECTORY --write    writes the examples (target example_sources)
"""

import pathlib
import sys

import page_blocks

# Folder of examples/: page, and the files that it shows.
SHOWN = {
    "native-program": ("tutorials/first-kernel.md", ("CMakeLists.txt", "kernel.c", "program.c", "scale.arguments.json", "scale.h")),
    "riscv-program": ("tutorials/first-registers.md", ("first.c",)),
    "register-script": ("tutorials/first-registers.md", ("first.regs",)),
}


def main():
    source = pathlib.Path(sys.argv[1])
    different = []
    for folder, (page, names) in SHOWN.items():
        files = page_blocks.files_of((source / "docs" / page).read_text(encoding="utf-8"))
        for name in names:
            if name not in files:
                sys.exit(f"docs/{page}: no block shows {name}")
            path = source / "examples" / folder / name
            if sys.argv[2:] == ["--write"]:
                path.parent.mkdir(exist_ok=True)
                path.write_text(files[name], encoding="utf-8")
            elif not path.exists() or path.read_text(encoding="utf-8") != files[name]:
                different.append(f"examples/{folder}/{name} differs from docs/{page}: build the target example_sources")
    if different:
        sys.exit("\n".join(different))


main()
