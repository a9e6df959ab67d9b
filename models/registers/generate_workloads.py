#!/usr/bin/env python3
"""Generates from descriptions of workloads what firmware, the platform and people need of them.

  generate_workloads.py ROOM/ROOM.arguments.json...
      [--c DIR]         DIR/<project>/workloads/<name>.h for programs, and DIR/<project>/programs.h
      [--cpp DIR]       DIR/workloads/<name>_arguments.h for the platform, and DIR/workloads/descriptions.h
      [--built-in FILE] a C source with the table of all programs
      [--operations OPERATION/OPERATION.operation.json...]  the collective operations, which add to --c and --cpp
                        <project>/collective_op.h, collective_staging.h, operations/<name>.h, workloads/collective_operations.h
      [--operation-table FILE]  a C source with the kernel's table of them
      [--schema FILE] [--docs FILE]              the run file's schema, whose `workload` and `method` are replaced, and the reference page
      [--check-schema FILE] [--check-docs FILE]  fails when the file differs
  [--project NAME]  prefix of all C names; default: t3

A file is only written when its content changes. Errors are one line each: file, argument, what is wrong.
"""

import argparse
import pathlib
import sys

from generator import operation_c, operation_cpp, workload_c, workload_cpp
from generator.description import DescriptionError
from generator.files import write
from generator.operation import read_operations
from generator.workload import read_workloads
from generator.workload_page import page
from generator.workload_schema import schema_text


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("descriptions", nargs="+")
    parser.add_argument("--operations", nargs="*", default=[])
    for option in ("--c", "--cpp", "--built-in", "--operation-table", "--schema", "--docs", "--check-schema", "--check-docs"):
        parser.add_argument(option, type=pathlib.Path)
    parser.add_argument("--project", default="t3")
    return parser.parse_args()


def read(path):
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise DescriptionError(f"{path}: {error.strerror}") from error


def check(path, text):
    if read(path) != text:
        raise DescriptionError(f"{path}: differs from the descriptions; build the target workload_reference")


def generate_operations(options, operations):
    project = options.project
    if options.c:
        write(options.c / project / "collective_op.h", operation_c.op_header(operations, project))
        write(options.c / project / "collective_staging.h", operation_c.staging_header(operations, project))
        for operation in operations:
            if operation.staging == "own":
                write(options.c / project / "operations" / f"{operation.c_name}.h", read(operation.layout))
    if options.cpp:
        write(options.cpp / "workloads" / "collective_operations.h", operation_cpp.header(operations, project))
    if options.operation_table:
        write(options.operation_table, operation_c.table_source(operations, project))


def generate(options):
    operations = read_operations(options.operations)
    workloads = read_workloads(options.descriptions, operations)
    project = options.project
    if operations:
        generate_operations(options, operations)
    if options.c:
        for workload in workloads:
            write(options.c / project / "workloads" / f"{workload.name}.h", workload_c.header(workload, project))
        write(options.c / project / "programs.h", workload_c.programs_header(workloads, project))
    if options.cpp:
        for workload in workloads:
            write(options.cpp / "workloads" / f"{workload.name}_arguments.h", workload_cpp.header(workload, project))
        write(options.cpp / "workloads" / "descriptions.h", workload_cpp.descriptions_header(workloads))
    if options.built_in:
        write(options.built_in, workload_c.built_in_source(workloads, project))
    if options.schema:
        write(options.schema, schema_text(read(options.schema), workloads, options.schema))
    if options.docs:
        write(options.docs, page(workloads, operations, project))
    if options.check_schema:
        check(options.check_schema, schema_text(read(options.check_schema), workloads, options.check_schema))
    if options.check_docs:
        check(options.check_docs, page(workloads, operations, project))


def main():
    try:
        generate(arguments())
    except DescriptionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
