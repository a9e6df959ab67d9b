"""The arrows between libraries run one way, and what has no part in the simulation includes nothing of it.

  layers_test.py SOURCE_DIRECTORY layers.txt links.txt

layers.txt is written at configure time: a line "<folder>: <targets that it links>" for each library. A wrong include does
not compile, since every library has an include directory of its own; this test finds what the compiler lets pass.
links.txt has a line "<target>: <what it links>" for each target of the build.
"""

import functools
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1])
LAYERS, LINKS = sys.argv[2:4]
del sys.argv[1:4]

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)
# Without SystemC: they are parameters, arithmetic, files and figures.
PLAIN = ("models/dram", "models/processor/riscv/hart",
         "platform/io", "platform/system", "platform/workloads", "platform/config", "platform/report", "platform/experiment", "platform/debugger")
SIMULATION = re.compile(r"(systemc|tlm|tlm_utils|sysc)(\.h|/.*)?\Z")


def name_of(folder):
    return folder.rsplit("/", 1)[-1]


# Targets of plain C++ in the folder of a library that links SystemC.
PLAIN_PARTS = {"protocol_types": "protocol", "matrix_unit": "compute", "arbitration": "memory"}


def read_layers():
    """Folder by name, for each folder the names of those that it links, and of those whose headers it links without them."""
    links, headers = {}, {}
    for line in pathlib.Path(LAYERS).read_text(encoding="utf-8").splitlines():
        folder, targets = line.split(":", 1)
        names = {re.sub(r"t3vp(::|_)", "", target) for target in targets.split()}
        links[folder] = names
        headers[folder] = {PLAIN_PARTS.get(name, name.removesuffix("_headers")) for name in names
                           if name in PLAIN_PARTS or name.endswith("_headers")}
    folders = {name_of(folder): folder for folder in links}
    links = {folder: {n for n in names if n in folders} for folder, names in links.items()}
    return folders, links, headers


def read_links():
    """For each target of the build what it links, by the target's own name."""
    links = {}
    for line in pathlib.Path(LINKS).read_text(encoding="utf-8").splitlines():
        target, linked = line.split(": ", 1)
        plain = re.sub(r"\$<(LINK_ONLY|BUILD_INTERFACE):|>", "", linked)
        links[target] = set(plain.replace("t3vp::", "t3vp_").split())
    return links


def linked_by(links, target):
    """All that a target links, at any depth."""
    names, left = set(), [target]
    while left:
        for name in links.get(left.pop(), set()) - names:
            names.add(name)
            left.append(name)
    return names


@functools.lru_cache(maxsize=None)
def includes_of(file):
    return [(quote == "<", path) for quote, path in INCLUDE.findall(file.read_text(encoding="utf-8"))]


class Layers(unittest.TestCase):
    def setUp(self):
        self.folders, self.links, self.headers = read_layers()

    def below(self, folder):
        """Names of all layers that a layer's targets link, at any depth."""
        names, left = set(), [folder]
        while left:
            for name in self.links[left.pop()] - names:
                names.add(name)
                left.append(self.folders[name])
        return names

    def sources(self, folder):
        rooms = [room for room in (SOURCE / folder).glob("*/") if room.relative_to(SOURCE).as_posix() not in self.links]
        files = [file for room in (SOURCE / folder, *rooms) for file in room.iterdir()]
        return [file for file in sorted(files) if file.suffix in (".h", ".cpp") and not file.stem.endswith("_test")]

    def header(self, path):
        """A layer's own header; none for generated ones, which include nothing of the kind."""
        first, _, rest = path.partition("/")
        file = SOURCE / self.folders[first] / rest if first in self.folders else None
        return file if file and file.is_file() else None

    def everything_included(self, file, seen):
        """Angle-bracketed includes of a file and of all headers of layers that it includes."""
        found = set()
        for system, path in includes_of(file):
            if system:
                found.add(path)
            elif (header := self.header(path)) and header not in seen:
                seen.add(header)
                found |= self.everything_included(header, seen)
        return found

    def test_every_layer_is_found(self):
        for folder in ("models/protocol", "models/memory", "platform/node", "platform/cli"):
            self.assertIn(folder, self.links)

    def test_arrows_run_one_way(self):
        for folder in self.links:
            self.assertNotIn(name_of(folder), self.below(folder), f"{folder} links itself by way of others")

    def test_blocks_do_not_know_each_other(self):
        allowed = {"protocol", "registers"}
        for folder, names in self.links.items():
            if folder.startswith("models/"):
                extra = {"models/memory": {"dram"}, "models/processor": {"riscv"},
                         "models/processor/riscv": {"hart"}}.get(folder, set())
                self.assertLessEqual(names, allowed | extra, folder)

    def test_nodes_know_nothing_of_runs(self):
        for name in self.below("platform/node"):
            self.assertTrue(self.folders[name].startswith("models/") or name in ("io", "races", "system"), name)
        for file in self.sources("platform/node"):
            json = [path for path in self.everything_included(file, set()) if path.startswith("nlohmann")]
            self.assertEqual(json, [], file)

    def test_models_and_firmware_meet_in_abi(self):
        """A model includes of "t3/" what is in abi/ or generated from descriptions, and nothing of firmware/."""
        generated = {"t3/gpu.h", "t3/enumeration.h", "t3/kernel_parameters.h"}
        for kind in ("structure", "enumeration"):
            generated |= {f"t3/{file.name.split('.')[0]}.h" for file in SOURCE.glob(f"models/*/*.{kind}.json")}
        generated |= {f"t3/registers/{file.name.split('.')[0]}.h" for file in SOURCE.glob("models/*/*.registers.json")}
        abi = SOURCE / "abi/include"
        allowed = generated | {file.relative_to(abi).as_posix() for file in abi.rglob("*.h")}
        self.assertIn("t3/device.h", allowed)
        software = {file.name for folder in ("hal", "driver", "kernels", "programs") for file in SOURCE.glob(f"firmware/{folder}/**/*.h")}
        for file in (file for end in ("h", "cpp") for file in SOURCE.glob(f"models/**/*.{end}")):
            for system, path in includes_of(file):
                if path.startswith("t3/"):
                    self.assertIn(path, allowed, file)
                elif not system and not self.header(path):
                    self.assertFalse(path.startswith("kernels/") or path in software, f"{file} includes {path}")
        for file in abi.rglob("*.h"):
            for system, path in includes_of(file):
                self.assertTrue(system or path in allowed, f"{file} includes {path}")


    def test_experiments_work_on_reports(self):
        self.assertNotIn("run", self.below("platform/experiment"))

    def test_includes_follow_the_arrows(self):
        for folder in self.links:
            below = self.below(folder)
            allowed = {name_of(folder)} | below | self.headers[folder]
            allowed |= {header for name in below for header in self.headers[self.folders[name]]}
            for file in self.sources(folder):
                for system, path in includes_of(file):
                    self.assertNotIn("..", path.split("/"), file)
                    if not system and self.header(path):
                        self.assertIn(path.split("/", 1)[0], allowed, f"{file} includes {path}")

    def test_what_is_no_simulation_includes_no_systemc(self):
        for folder in PLAIN:
            for file in self.sources(folder):
                found = [path for path in self.everything_included(file, set()) if SIMULATION.match(path)]
                self.assertEqual(found, [], file)

    def test_what_is_no_simulation_links_no_systemc(self):
        links = read_links()
        self.assertIn("PkgConfig::SystemC", linked_by(links, "t3vp_run"))
        for folder in PLAIN:
            target = "t3vp_" + name_of(folder)
            self.assertIn(target, links)
            self.assertEqual([name for name in linked_by(links, target) if "systemc" in name.lower()], [], folder)


if __name__ == "__main__":
    unittest.main()
