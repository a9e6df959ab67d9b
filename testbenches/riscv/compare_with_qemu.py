"""A hart and qemu execute the same random programs: registers, memory and what traps tell have to be the same.

  compare_with_qemu.py BOARD FIRST_SEED SEEDS PROGRAMS

BOARD is riscv_board; PROGRAMS are made of each seed. Needs riscv64-unknown-elf-gcc and qemu-system-riscv64; without them it says so and
ends with 77, which CTest tells as skipped, or fails when T3VP_ALL_TESTS is set.
"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import random_programs

COMPILE = ("riscv64-unknown-elf-gcc -march=rv64imac_zicsr_zifencei -mabi=lp64 -mcmodel=medany -nostdlib -static "
           "-Wl,-Ttext=0x80000000 -Wl,--no-relax -Wl,-N,--no-warn-rwx-segments").split()
# Machine mode alone and nothing beyond RV64IMAC.
QEMU = ("qemu-system-riscv64 -machine virt -bios none -m 64M -display none -monitor none -cpu "
        "rv64,f=false,d=false,v=false,zba=false,zbb=false,zbc=false,zbs=false,s=false,u=false,h=false").split()
TIMEOUT_S = 120


def outputs(board, seed, programs, folder):
    """What the board and qemu have sent to the UART."""
    source, elf, sent = folder / "programs.S", folder / "programs.elf", folder / "qemu.out"
    source.write_text(random_programs.Generator(seed).file(programs))
    subprocess.run([*COMPILE, source, "-o", elf], check=True)
    ours = subprocess.run([board, elf], check=True, stdout=subprocess.PIPE, timeout=TIMEOUT_S).stdout
    subprocess.run([*QEMU, "-serial", f"file:{sent}", "-kernel", elf], check=True, timeout=TIMEOUT_S)
    return ours, sent.read_bytes()


def differences(ours, theirs, programs):
    """A line for each double word that differs."""
    if len(ours) != len(theirs):
        yield f"{len(ours)} B of the board and {len(theirs)} B of qemu"
        return
    log = 32 * programs
    window = log + 3 * random_programs.LOG_ENTRIES * programs
    for place, (mine, other) in enumerate(zip(struct.unpack(f"<{len(ours) // 8}Q", ours),
                                              struct.unpack(f"<{len(theirs) // 8}Q", theirs))):
        if mine == other:
            continue
        if place < log:
            what = f"program {place // 32}: x{place % 32}"
        elif place < window:
            entry, part = divmod(place - log, 3)
            program, entry = divmod(entry, random_programs.LOG_ENTRIES)
            what = f"program {program}: {('mcause', 'mtval', 'mepc')[part]} of exception {entry}"
        else:
            what = f"memory at {8 * (place - window):#x}"
        yield f"{what}: {mine:#x}, of qemu {other:#x}"


class Comparison(unittest.TestCase):
    def test_random_programs(self):
        executed = 0
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                ours, theirs = outputs(BOARD, seed, PROGRAMS, pathlib.Path(folder))
                self.assertGreater(len(ours), 256 * PROGRAMS)
                found = list(differences(ours, theirs, PROGRAMS))
                self.assertEqual(found[:20], [], f"{len(found)} differences with seed {seed}")
                executed += PROGRAMS
        print(f"{executed} random programs, seeds {FIRST_SEED} to {FIRST_SEED + SEEDS - 1}: as on qemu")

    def test_a_difference_is_found_wherever_it_is(self):
        for place in range(0, 8 * (32 + 3 * random_programs.LOG_ENTRIES + 10), 8):
            ours = bytes(8 * (32 + 3 * random_programs.LOG_ENTRIES + 10))
            theirs = bytearray(ours)
            theirs[place + 7] = 1
            self.assertEqual(len(list(differences(ours, bytes(theirs), 1))), 1, place)
        self.assertEqual(len(list(differences(b"", bytes(8), 0))), 1)


if __name__ == "__main__":
    missing = [tool for tool in (COMPILE[0], QEMU[0]) if shutil.which(tool) is None]
    if missing:
        print(f"NOT COMPARED with qemu: {' and '.join(missing)} not found (Debian: gcc-riscv64-unknown-elf, qemu-system-misc)")
        sys.exit(1 if os.environ.get("T3VP_ALL_TESTS") else 77)
    BOARD, (FIRST_SEED, SEEDS, PROGRAMS) = sys.argv[1], map(int, sys.argv[2:5])
    unittest.main(argv=sys.argv[:1])
