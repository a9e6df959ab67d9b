"""The driver's files call each other in one direction: what the README lists from the bottom to the top.

  driver_order.py SOURCE_DIRECTORY OBJECT...

A block of firmware/README.md that begins with "driver/, from the bottom to the top" has a line "<n>  <file> <file> ..." for each layer.
A symbol of the driver that an object leaves undefined has to be defined in a file of a lower layer, and a header that a file
includes belongs to its own layer or a lower one.
"""

import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1])
DRIVER = SOURCE / "firmware/driver"
OBJECTS = {pathlib.Path(path).name.split(".")[0]: path for path in sys.argv[2:] if pathlib.Path(path).parent.name == "driver"}


def read_layers():
    text = (SOURCE / "firmware/README.md").read_text(encoding="utf-8")
    block = re.search(r"^    driver/, from the bottom to the top\n((?:    .*\n)+)", text, re.MULTILINE)
    layers = {}
    for line in block.group(1).splitlines():
        number, *names = line.split()
        for name in names:
            if name in layers:
                sys.exit(f"firmware/README.md: {name} is in two layers")
            layers[name] = int(number)
    return layers


def symbols_of(path):
    defined, used = set(), set()
    for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
        kind, name = line.split()[-2:]
        if kind == "U":
            used.add(name)
        elif kind in "TDBRVW":
            defined.add(name)
    return defined, used


def main():
    layers = read_layers()
    files = {file.stem for file in DRIVER.iterdir() if file.suffix in (".c", ".h")}
    mistakes = [f"firmware/README.md has no layer for driver/{name}" for name in sorted(files - set(layers))]
    mistakes += [f"firmware/README.md has a layer for driver/{name}, which is not there" for name in sorted(set(layers) - files)]
    sources = {file.stem for file in DRIVER.glob("*.c")}
    if sources - set(OBJECTS):
        sys.exit(f"no object of {sorted(sources - set(OBJECTS))}")
    if mistakes:
        sys.exit("\n".join(mistakes))
    symbols = {name: symbols_of(OBJECTS[name]) for name in sources}
    home = {symbol: name for name, (defined, _) in symbols.items() for symbol in defined}
    calls = 0
    for name in sorted(sources):
        for symbol in sorted(symbols[name][1] & set(home)):
            calls += 1
            if layers[home[symbol]] >= layers[name]:
                mistakes.append(f"{name}.c (layer {layers[name]}) uses {symbol} of {home[symbol]}.c (layer {layers[home[symbol]]})")
    for file in sorted(DRIVER.iterdir()):
        for header in re.findall(r'^#include "(\w+)\.h"', file.read_text(encoding="utf-8"), re.MULTILINE):
            if header in layers and header != file.stem and layers[header] > layers[file.stem]:
                mistakes.append(f"{file.name} (layer {layers[file.stem]}) includes {header}.h (layer {layers[header]})")
    if mistakes:
        sys.exit("\n".join(mistakes))
    if calls < 20:
        sys.exit(f"only {calls} uses of symbols between the driver's files were found")
    print(f"{calls} uses of symbols between {len(sources)} files, all downwards")


main()
