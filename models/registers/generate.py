#!/usr/bin/env python3
"""Generates from descriptions of registers, enumerations and the device that has them what models, firmware and people
need of them.

  generate.py BLOCK.registers.json... [--enumerations NAME.enumeration.json...] [--device DEVICE.json]
      [--cpp DIR]  DIR/registers/<block>.h, one class per block
      [--c DIR]    DIR/<project>/registers/<block>.h for firmware
      [--project NAME]  prefix of all C names; default: t3
  with --device, whose blocks these are all, moreover
      DIR/registers/<device>.h and DIR/<project>/<device>.h, address map, blocks and interrupt lines,
      DIR/registers/<enumeration>.h and DIR/<project>/<enumeration>.h,
      DIR/<project>/enumeration.h, how wide those of firmware are,
      DIR/registers/catalogue.h, all blocks in the order of their windows;
      [--docs FILE] [--check-docs FILE]  the reference page; --check-docs fails when FILE differs from it
      [--exports FILE --release VERSION]  a C++ source with what other tools read (generator/exports.py)
      [--structures NAME.structure.json NAME.arguments.json...]  what that page has besides (generate_structures.py)

A file is only written when its content changes. Errors are one line each: file, register, what is wrong.
"""

import argparse
import pathlib
import sys

from generator import c_header, cpp_header, exports, reference
from generator.description import DescriptionError, read_blocks, read_enumerations
from generator.device import read_device
from generator.files import write
from generator.structure import read_structures


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("descriptions", nargs="+")
    parser.add_argument("--enumerations", nargs="+", default=[])
    parser.add_argument("--structures", nargs="+", default=[])
    parser.add_argument("--device")
    parser.add_argument("--cpp", type=pathlib.Path)
    parser.add_argument("--c", type=pathlib.Path)
    parser.add_argument("--project", default="t3")
    parser.add_argument("--docs", type=pathlib.Path)
    parser.add_argument("--check-docs", type=pathlib.Path)
    parser.add_argument("--exports", type=pathlib.Path)
    parser.add_argument("--release", default="0")
    return parser.parse_args()


def write_blocks(options, blocks):
    for block in blocks:
        if options.cpp:
            write(options.cpp / "registers" / f"{block.name}.h", cpp_header.block_header(block))
        if options.c:
            write(options.c / options.project / "registers" / f"{block.name}.h",
                  c_header.block_header(block, options.project))


def write_shared(options, blocks, enumerations, device):
    if options.cpp:
        for enumeration in enumerations.values():
            write(options.cpp / "registers" / f"{enumeration.name}.h", cpp_header.enumeration_header(enumeration))
        write(options.cpp / "registers" / f"{device.name}.h", cpp_header.device_header(device, blocks))
        write(options.cpp / "registers" / "catalogue.h", cpp_header.catalogue_header(blocks, device))
    if options.c:
        write(options.c / options.project / "enumeration.h", c_header.width_header(options.project))
        for enumeration in enumerations.values():
            write(options.c / options.project / f"{enumeration.name}.h",
                  c_header.enumeration_header(enumeration, options.project))
        write(options.c / options.project / f"{device.name}.h",
              c_header.device_header(device, blocks, options.project))


def check(path, page):
    if not path.exists() or path.read_text(encoding="utf-8") != page:
        raise DescriptionError(f"{path}: differs from the descriptions; build the target register_reference")


def generate(options):
    enumerations = read_enumerations(options.enumerations)
    if not options.device:
        write_blocks(options, read_blocks(options.descriptions, enumerations))
        return
    device = read_device(options.device)
    known = {**enumerations, **{e.name: e for e in device.enumerations([])}}
    blocks = device.in_order(read_blocks(options.descriptions, known))
    write_blocks(options, blocks)
    write_shared(options, blocks, enumerations, device)
    structures = read_structures(options.structures)
    if options.exports:
        write(options.exports,
              exports.source(blocks, enumerations, device, structures, options.project, options.release))
    page = reference.page(blocks, enumerations, device, structures)
    if options.docs:
        write(options.docs, page)
    if options.check_docs:
        check(options.check_docs, page)


def main():
    try:
        generate(arguments())
    except DescriptionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
