"""Which testbenches are nearest to a file: those of its folder's name, then those whose sources include it, through fewest files first."""
import collections
import pathlib
import re

SOURCES = (".cpp", ".h", ".c")
FOLDERS = ("models", "platform", "firmware", "abi", "testbenches")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)


def benches(project):
    """The testbenches' names by the folder of their CMakeLists.txt, relative to the project."""
    found = {}
    for file in sorted((project / "testbenches").rglob("CMakeLists.txt")):
        for name in re.findall(r"^\s*t3vp_testbench\(\s*(\w+)", file.read_text(), re.MULTILINE):
            found.setdefault(file.parent.relative_to(project), []).append(name)
    return found


class Includes:
    def __init__(self, project):
        self.files = [file.relative_to(project) for folder in FOLDERS for file in sorted((project / folder).rglob("*"))
                      if file.suffix in SOURCES]
        by_name = collections.defaultdict(list)
        for file in self.files:
            by_name[file.name].append(file)
        self.included_by, self.includes = collections.defaultdict(set), collections.defaultdict(set)
        for file in self.files:
            for text in INCLUDE.findall((project / file).read_text(errors="replace")):
                for target in self.resolved(file, pathlib.PurePath(text), by_name):
                    self.included_by[target].add(file)
                    self.includes[file].add(target)

    @staticmethod
    def resolved(file, text, by_name):
        beside = [target for target in by_name[text.name] if target == file.parent / text]
        return beside or [target for target in by_name[text.name] if target.parts[-len(text.parts):] == text.parts]

    def headers_of(self, file):
        """The headers through which others reach a source: of its own name, or those that it includes from its folder."""
        if file.suffix == ".h":
            return {file}
        beside = {header for header in self.includes[file] if header.parent == file.parent}
        return {header for header in beside if header.stem == file.stem} or beside

    def distances(self, file):
        """How many steps each file is away from those that include this one."""
        distance = {start: 0 for start in {file} | self.headers_of(file)}
        queue = collections.deque(distance)
        while queue:
            at = queue.popleft()
            following = set(self.included_by[at])
            if at.suffix != ".h":
                following |= self.headers_of(at)
            for other in sorted(following - set(distance)):
                distance[other] = distance[at] + 1
                queue.append(other)
        return distance

    def source_with(self, header):
        """A source that includes the header, the nearest one in its own folder if there is one."""
        distance = self.distances(header)
        sources = [file for file in distance if file.suffix != ".h"]
        return min(sources, key=lambda file: (file.parent != header.parent, distance[file], file.stem != header.stem, file), default=None)


def nearest(file, project, includes, most=3):
    """The names of the testbenches nearest to a file, nearest first."""
    by_folder = benches(project)
    names = {name for names in by_folder.values() for name in names}
    found = [part for part in reversed(file.parent.parts) if part in names]
    if file.parts[:2] == ("platform", "workloads") and "system" in names:  # where its room's tests are
        found += ["compute", "system"] if "kernel" in file.parts and "compute" in names else ["system"]
    reached = {}
    for other, steps in includes.distances(file).items():
        for folder, names_there in by_folder.items():
            if folder in other.parents:
                for name in names_there:
                    reached[name] = min(steps, reached.get(name, steps))
    found += sorted(set(reached) - set(found), key=lambda name: (reached[name], name))
    return (found + ["system"] * ("system" not in found))[:most]  # whole runs, if there are not so many near ones
