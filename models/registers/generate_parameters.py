#!/usr/bin/env python3
"""Generates from descriptions of parameters what models, kernels, readers of files and people need of them.

  generate_parameters.py NAME.parameters.json...
      [--cpp DIR]  DIR/<folder>/<name>_parameters.h, the structure of each description; <folder> is that of the description
                   DIR/<folder>/<name>_ranges.h, the check of that structure
      [--c DIR]    DIR/<project>/kernel_parameters.h, structures of those in C
      [--kernel-ranges FILE]  a C++ header with the check of those in C
      [--readers DIR]  DIR/parameter_readers.h and .cpp, files' sections into these structures
      [--skeletons NAME.skeleton.json...]  schemas that have places for sections (generator/schema.py), and with them
          [--schemas DIR] [--check-schemas DIR]  DIR/NAME.schema.json; --check-schemas fails when one differs
          [--docs FILE] [--check-docs FILE]      the reference page; --check-docs fails when FILE differs from it
          [--keys FILE]                          a C++ source with all keys
          [--key-schemas NAME.schema.json...]    schemas whose keys page and source have too (generator/schema_keys.py)
  [--project NAME]  prefix of C names; default: t3      [--namespace NAME]  of C++; default: t3vp

A file is only written when its content changes. Errors are one line each: file, field, what is wrong.
"""

import argparse
import pathlib
import sys

from generator import keys, parameter_header, parameter_ranges, parameter_reader, schema, schema_keys
from generator.description import DescriptionError, Reader
from generator.files import write
from generator.parameters import read_descriptions, sections_of


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("descriptions", nargs="+")
    parser.add_argument("--skeletons", nargs="+", default=[])
    parser.add_argument("--key-schemas", nargs="+", default=[])
    for option in ("--cpp", "--c", "--kernel-ranges", "--readers", "--schemas", "--check-schemas", "--docs", "--check-docs", "--keys"):
        parser.add_argument(option, type=pathlib.Path)
    parser.add_argument("--project", default="t3")
    parser.add_argument("--namespace", default="t3vp")
    return parser.parse_args()


def write_structures(options, descriptions):
    if options.cpp:
        for d in descriptions:
            if d.language == "c++":
                write(options.cpp / d.folder / f"{d.name}_parameters.h",
                      parameter_header.cpp_header(d, options.namespace))
            if parameter_ranges.has_ranges(d):
                write(options.cpp / d.folder / f"{d.name}_ranges.h",
                      parameter_ranges.ranges_header(d, options.namespace))
    if options.c:
        of_kernels = [d for d in descriptions if d.language == "c"]
        write(options.c / options.project / "kernel_parameters.h",
              parameter_header.kernels_header(of_kernels, options.project))
    if options.kernel_ranges:
        of_kernels = [d for d in descriptions if d.language == "c"]
        write(options.kernel_ranges,
              parameter_ranges.kernel_ranges_header(of_kernels, options.project, options.namespace))
    if options.readers:
        write(options.readers / "parameter_readers.h",
              parameter_reader.header(descriptions, options.project, options.namespace))
        write(options.readers / "parameter_readers.cpp",
              parameter_reader.source(descriptions, options.project, options.namespace, "parameter_readers.h"))


def check(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        raise DescriptionError(f"{path}: differs from the descriptions; build the target parameter_reference")


def expand(skeletons, sections):
    """Schemas by name, and all sections in the order in which the skeletons have them."""
    schemas, ordered = {}, []
    for file in skeletons:
        name = pathlib.Path(file).name.removesuffix(".skeleton.json")
        schemas[name], order = schema.schema_from(Reader(file).load(), name, sections)
        ordered += [sections[name, section] for section in order]
    return schemas, ordered


def write_references(options, descriptions):
    schemas, ordered = expand(options.skeletons, sections_of(descriptions))
    of_schemas = [key for file in options.key_schemas for key in schema_keys.keys_of_schema(file)]
    page = keys.page(ordered, of_schemas)
    for name, its in schemas.items():
        if options.schemas:
            write(options.schemas / f"{name}.schema.json", schema.text_of(its))
        if options.check_schemas:
            check(options.check_schemas / f"{name}.schema.json", schema.text_of(its))
    if options.docs:
        write(options.docs, page)
    if options.check_docs:
        check(options.check_docs, page)
    if options.keys:
        write(options.keys, keys.source(ordered, of_schemas, options.namespace))


def generate(options):
    descriptions = read_descriptions(options.descriptions, options.project)
    write_structures(options, descriptions)
    if options.skeletons:
        write_references(options, descriptions)


def main():
    try:
        generate(arguments())
    except DescriptionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
