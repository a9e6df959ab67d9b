#!/usr/bin/env python3
"""Generates from register descriptions the models' classes, the firmware's headers and the reference page.

  generate.py BLOCK.registers.json... --enumeration status.json
      [--cpp DIR]  DIR/registers/<block>.h, one class per block
      [--c DIR]    DIR/t3/registers/<block>.h for firmware
      [--address-map address_map.h]  these are all blocks of a GPU, numbered there: adds DIR/registers/catalogue.h,
                                     the shared enumerations registers/status.h and t3/status.h, and allows
          [--docs FILE] [--check-docs FILE]  the reference page; --check-docs fails when FILE differs from it

A file is only written when its content changes. Errors are one line each: file, register, what is wrong.
"""

import argparse
import pathlib
import sys

from generator import c_header, cpp_header, reference
from generator.address_map import AddressMap
from generator.description import DescriptionError, read_all


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("descriptions", nargs="+")
    parser.add_argument("--enumeration", action="append", default=[])
    parser.add_argument("--cpp", type=pathlib.Path)
    parser.add_argument("--c", type=pathlib.Path)
    parser.add_argument("--address-map")
    parser.add_argument("--docs", type=pathlib.Path)
    parser.add_argument("--check-docs", type=pathlib.Path)
    return parser.parse_args()


def write(path, text):
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_blocks(options, blocks):
    for block in blocks:
        if options.cpp:
            write(options.cpp / "registers" / f"{block.name}.h", cpp_header.block_header(block))
        if options.c:
            write(options.c / "t3" / "registers" / f"{block.name}.h", c_header.block_header(block))


def write_platform(options, blocks, enumerations, address_map):
    for enumeration in enumerations.values():
        if options.cpp:
            write(options.cpp / "registers" / f"{enumeration.name}.h", cpp_header.enumeration_header(enumeration))
        if options.c:
            write(options.c / "t3" / f"{enumeration.name}.h", c_header.enumeration_header(enumeration))
    if options.cpp:
        write(options.cpp / "registers" / "catalogue.h", cpp_header.catalogue_header(blocks, address_map))


def check(path, page):
    if not path.exists() or path.read_text(encoding="utf-8") != page:
        raise DescriptionError(f"{path}: differs from the register descriptions; build the target register_reference")


def generate(options):
    blocks, enumerations = read_all(options.descriptions, options.enumeration)
    write_blocks(options, blocks)
    if not options.address_map:
        return
    address_map = AddressMap(options.address_map)
    blocks = address_map.in_order(blocks)
    write_platform(options, blocks, enumerations, address_map)
    page = reference.page(blocks, enumerations, address_map)
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
