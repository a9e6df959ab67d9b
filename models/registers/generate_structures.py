#!/usr/bin/env python3
"""Generates C headers, which C++ takes as well, from descriptions of packets and of kernels' arguments.

  generate_structures.py NAME.structure.json... NAME.arguments.json... --c DIR
      DIR/<project>/<name>.h of a packet, DIR/<project>/arguments/<name>.h of arguments
  [--project NAME]  prefix of all C names; default: t3

A file is only written when its content changes. Errors are one line each: file, field, what is wrong.
"""

import argparse
import pathlib
import sys

from generator.description import DescriptionError
from generator.files import write
from generator.structure import header, header_name, read_structures


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("descriptions", nargs="+")
    parser.add_argument("--c", type=pathlib.Path, required=True)
    parser.add_argument("--project", default="t3")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        for structure in read_structures(options.descriptions):
            write(options.c / header_name(structure, options.project), header(structure, options.project))
    except DescriptionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
