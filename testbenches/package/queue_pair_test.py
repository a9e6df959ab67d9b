"""Does what docs/tutorials/first-nic.md says.

  queue_pair_test.py SOURCE_DIRECTORY BINARY_DIRECTORY
"""

import json
import sys

import how_to


def statistic(report, name):
    return sum(one["value"] for one in report["statistics"] if one["name"] == name)


def check(reader):
    report = json.loads((reader.place / "out/fused/report.json").read_text(encoding="utf-8"))
    slices, bytes_of_flag, matrix = 6, 8, 24 * 200 * 4
    if statistic(report, "gpu0.nic.payload") != matrix + slices * bytes_of_flag:
        sys.exit(f"GPU 0 has sent {statistic(report, 'gpu0.nic.payload')} bytes, not each row and flag once")


how_to.read("tutorials/first-nic.md", check)
