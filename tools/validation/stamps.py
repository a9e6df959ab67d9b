"""Stamps: which state of the project results are of.

A stamp names the commit and has two hashes of what is on the disk, 12 hexadecimal digits each:

- sources: what simulates (cmake/simulation_fingerprint.py). Comments, the command line, tables, pictures and the
  debugger leave it as it is.
- configs: systems, memories, models and run files (CONFIGS), without their descriptions.

Results with equal hashes are of one state, whatever their commits are. An experiment's own file (and its reference) is
hashed in stamp.json alone, since it decides about no other experiment's results.
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "cmake"))
from simulation_fingerprint import content, fingerprint  # noqa: E402: it belongs to the build
SOURCES = ("abi", "cmake", "firmware", "models", "platform", "CMakeLists.txt")
CONFIGS = ("configs/memory", "configs/runs", "configs/systems", "configs/workloads")
MIXED = "mixed: "
BLOCK = re.compile(r"<!-- stamp -->\n(.*?)\n<!-- end -->", re.DOTALL)
ENTRY = re.compile(r"commit `([^`]+)`(?: \(sources `(\w+)`, configs `(\w+)`\))?")


class Stamp(NamedTuple):
    commit: str
    sources: str = ""  # empty: made before stamps were kept
    configs: str = ""
    made: str = ""  # UTC; empty: read from a page

    def is_like(self, other):
        return bool(self.sources) and self[1:3] == other[1:3]

    def text(self):
        return f"commit `{self.commit}`" + (f" (sources `{self.sources}`, configs `{self.configs}`)" if self.sources else "")


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def digest_of_files(files):
    found = hashlib.sha256()
    for file in files:
        found.update(f"{file}\0{content(ROOT / file)}\0".encode())
    return found.hexdigest()[:12]


def digest_of(paths, without=()):
    names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths).split("\0")
    return digest_of_files(name for name in sorted(set(names)) if name and not name.endswith(".md")
                           and not name.startswith(without) and (ROOT / name).exists())


def stamp_of_tree():
    commit = git("rev-parse", "--short=8", "HEAD").strip()
    changed = [line for line in git("status", "--porcelain", "--", *SOURCES, *CONFIGS).splitlines() if not line.endswith(".md")]
    return Stamp(commit + ("+changes" if changed else ""), fingerprint(ROOT)[:12], digest_of(CONFIGS))


def digest_of_experiment(name):
    file = ROOT / "configs/experiments" / f"{name}.json"
    if not file.exists():
        return digest_of([f"testbenches/experiments/{name}"])  # times measured beside it; README's runs have none
    reference = json.loads(file.read_text()).get("reference")
    return digest_of_files(str(path.relative_to(ROOT)) for path in [file] + ([file.parent / reference] if reference else []))


def read(folder):
    """What stamp.json says; nothing without one."""
    file = folder / "stamp.json"
    return json.loads(file.read_text()) if file.exists() else {}


def stamp_in(folder):
    return Stamp(*(read(folder)[key] for key in Stamp._fields))


def all_alike(stamps):
    first = next(iter(stamps))
    return all(first.is_like(stamp) for stamp in stamps)


def by_state(stamps):
    """(stamp, names of experiments), the newest first; what a page says is older than any results."""
    groups = []
    for name, stamp in sorted(stamps.items(), key=lambda item: item[1].made, reverse=True):
        for known, names in groups:
            if known.is_like(stamp) or known[:3] == stamp[:3]:
                names.append(name)
                break
        else:
            groups.append((stamp, [name]))
    return groups


def line_of(stamps):
    """The line of a page, from the stamps of its experiments by name."""
    groups = by_state(stamps)
    if len(groups) == 1 and groups[0][0].sources:
        return f"The results on this page are of {groups[0][0].text()}."
    return MIXED + "; ".join(f"{stamp.text()}: {', '.join(names)}" for stamp, names in groups) + "."


def line_on(page_text):
    found = BLOCK.search(page_text)
    return found[1] if found else ""


def stamps_on(page_text, names):
    """The stamps that a page's line gives its experiments."""
    line = line_on(page_text)
    if not line.startswith(MIXED):
        found = ENTRY.search(line)
        return {name: Stamp(*found.groups("")) for name in names} if found else {}
    entries = [(ENTRY.match(part), part) for part in line[len(MIXED):].rstrip(".").split("; ")]
    return {name: Stamp(*found.groups("")) for found, part in entries for name in part[found.end():].strip(": ").split(", ")
            if name in names}
