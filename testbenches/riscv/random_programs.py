"""Random bare-metal RISC-V programs in one assembly file, for an RV64IMAC core in machine mode.

  random_programs.py SEED COUNT > programs.S

Each program loads all registers with random numbers, executes blocks of random instructions (some of them loops, some with branches)
over registers and a window of memory, and stores its registers. Exceptions are logged and skipped by the trap handler. In the
end log, registers and memory go to the UART and the test device ends the machine: the addresses are those of qemu's machine "virt".
"""

import random
import sys

LOG_ENTRIES = 40  # of each program, at most as many exceptions as it has instructions that may raise one

PROLOGUE = """
  .option norelax
  .text
  .globl _start
_start:
  la x31, handler
  csrw mtvec, x31
  la x31, frame
  csrw mscratch, x31
"""

# Numbers that arithmetic has its edges at.
EDGES = [0, 1, 2, 3, 31, 32, 63, 64, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 2,
         2**64 - 2**31, 2**64 - 2**32]

EPILOGUE = """
  la x5, results
  la x6, results_end
  li x7, 0x10000000
1:
  lbu x8, 0(x5)
  sb x8, 0(x7)
  addi x5, x5, 1
  bltu x5, x6, 1b
  li x7, 0x100000
  li x8, 0x5555
  sw x8, 0(x7)
2:
  j 2b

  .balign 4
handler:                  # x31 is saved in mscratch, where the frame's address is at other times
  csrrw x31, mscratch, x31
  sd x30, 0(x31)
  sd x29, 8(x31)
  ld x30, 16(x31)
  csrr x29, mcause
  sd x29, 0(x30)
  addi x29, x29, -3       # ebreak: mtval may be its address or 0
  bnez x29, 5f
  csrw mtval, x0
5:
  csrr x29, mtval
  sd x29, 8(x30)
  csrr x29, mcause
  blt x29, x0, 3f
  csrr x29, mepc
  sd x29, 16(x30)
  addi x30, x30, 24
  sd x30, 16(x31)
  csrr x30, mcause
  addi x30, x30, -1
  beqz x30, 4f
  lhu x30, 0(x29)         # go on behind the instruction
  andi x30, x30, 3
  addi x30, x30, -3
  addi x29, x29, 2
  bnez x30, 1f
  addi x29, x29, 2
1:
  csrw mepc, x29
2:
  ld x30, 0(x31)
  ld x29, 8(x31)
  csrrw x31, mscratch, x31
  mret
3:                        # an interrupt of this machine's own line: clear it; when exactly it comes is not defined
  addi x30, x30, 24
  sd x30, 16(x31)
  li x29, 0x2000000
  sw x0, 0(x29)
  j 2b
4:                        # a fetch: go on where the jump came from
  csrw mepc, x1
  j 2b
"""

R = ("add sub sll slt sltu xor srl sra or and addw subw sllw srlw sraw mul mulh mulhsu mulhu div divu rem remu mulw divw divuw "
     "remw remuw").split()
I = "addi slti sltiu xori ori andi addiw".split()
SHIFTS = {"slli": 64, "srli": 64, "srai": 64, "slliw": 32, "srliw": 32, "sraiw": 32}
LOADS = "lb lh lw ld lbu lhu lwu".split()
STORES = "sb sh sw sd".split()
AMOS = "amoswap amoadd amoxor amoand amoor amomin amomax amominu amomaxu".split()
BRANCHES = "beq bne blt bge bltu bgeu".split()
NOWHERE = 0x18000000


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.labels = 0

    def emit(self, line):
        self.lines.append("  " + line)

    def label(self):
        self.labels += 1
        return f".L{self.labels}"

    def place(self, label):
        self.lines.append(label + ":")

    def number(self):
        kind = self.random.randrange(4)
        if kind == 0:
            return self.random.choice(EDGES)
        return self.random.getrandbits(64) >> self.random.randrange(64 if kind == 1 else 1)

    # x29 is for addresses, x30 counts loops, x31 is the middle of the window: they are read like others and not written.
    def rd(self):
        return f"x{self.random.randrange(29)}"

    def rs(self):
        return f"x{self.random.randrange(32)}"

    def short(self):
        return f"x{self.random.randrange(8, 16)}"

    def any_rd(self):
        return f"x{self.random.randrange(1, 29)}"

    def aligned_address(self, size):
        self.emit(f"andi x29, {self.rs()}, {0x7F8 if size == 8 else 0x7FC}")
        self.emit("add x29, x31, x29")

    def registers(self):
        self.emit(f"{self.random.choice(R)} {self.rd()}, {self.rs()}, {self.rs()}")

    def immediate(self):
        self.emit(f"{self.random.choice(I)} {self.rd()}, {self.rs()}, {self.random.randrange(-2048, 2048)}")

    def shift(self):
        name = self.random.choice(list(SHIFTS))
        self.emit(f"{name} {self.rd()}, {self.rs()}, {self.random.randrange(SHIFTS[name])}")

    def upper(self):
        self.emit(f"{self.random.choice(['lui', 'auipc'])} {self.rd()}, {self.random.getrandbits(20)}")

    def load(self):
        self.emit(f"{self.random.choice(LOADS)} {self.rd()}, {self.random.randrange(-2048, 2040)}(x31)")

    def store(self):
        self.emit(f"{self.random.choice(STORES)} {self.rs()}, {self.random.randrange(-2048, 2040)}(x31)")

    def atomic(self):
        size = self.random.choice([4, 8])
        self.aligned_address(size)
        order = self.random.choice(["", ".aq", ".rl", ".aqrl"])
        self.emit(f"{self.random.choice(AMOS)}.{'wd'[size == 8]}{order} {self.rd()}, {self.rs()}, (x29)")

    def conditional(self):
        size = self.random.choice([4, 8])
        letter = "wd"[size == 8]
        self.aligned_address(size)
        if self.random.randrange(8):
            self.emit(f"lr.{letter} {self.rd()}, (x29)")
        if not self.random.randrange(4):
            self.store()
        if not self.random.randrange(6):
            self.emit(f"s{letter} {self.rs()}, 0(x29)")
        if not self.random.randrange(6):
            self.aligned_address(size)
        for _ in range(self.random.randrange(1, 3)):
            self.emit(f"sc.{letter} {self.rd()}, {self.rs()}, (x29)")

    def compressed(self):
        r = self.random
        six, shamt = r.choice([v for v in range(-32, 32) if v]), r.randrange(1, 64)
        any_rd, short, other = self.any_rd(), self.short(), self.short()
        any_rs = f"x{r.randrange(1, 32)}"
        self.emit(r.choice([
            f"c.addi {any_rd}, {six}", f"c.addiw {any_rd}, {six}", f"c.li {any_rd}, {six}",
            f"c.lui {r.choice([x for x in range(1, 29) if x != 2]):#d}".replace("c.lui ", "c.lui x") + f", {r.choice([r.randrange(1, 32), r.randrange(0xFFFE0, 0x100000)])}",
            f"c.slli {any_rd}, {shamt}", f"c.srli {short}, {shamt}", f"c.srai {short}, {shamt}", f"c.andi {short}, {six}",
            f"c.mv {any_rd}, {any_rs}", f"c.add {any_rd}, {any_rs}", f"c.sub {short}, {other}", f"c.xor {short}, {other}",
            f"c.or {short}, {other}", f"c.and {short}, {other}", f"c.subw {short}, {other}", f"c.addw {short}, {other}",
            f"c.addi16sp sp, {16 * r.choice([v for v in range(-32, 32) if v])}",
            f"c.addi4spn {short}, sp, {4 * r.randrange(1, 256)}"]))

    def compressed_memory(self):
        r = self.random
        if r.randrange(2):
            base, other = self.short(), self.short()
            self.emit(f"mv {base}, x31")
            self.emit(r.choice([f"c.lw {other}, {4 * r.randrange(32)}({base})", f"c.ld {other}, {8 * r.randrange(32)}({base})",
                                f"c.sw {other}, {4 * r.randrange(32)}({base})", f"c.sd {other}, {8 * r.randrange(32)}({base})"]))
        else:
            self.emit("mv sp, x31")
            self.emit(r.choice([f"c.lwsp {self.any_rd()}, {4 * r.randrange(64)}(sp)",
                                f"c.ldsp {self.any_rd()}, {8 * r.randrange(64)}(sp)",
                                f"c.swsp {self.rs()}, {4 * r.randrange(64)}(sp)",
                                f"c.sdsp {self.rs()}, {8 * r.randrange(64)}(sp)"]))

    def fence(self):
        self.emit(self.random.choice(["fence", "fence.i", "fence rw, w"]))

    def jump(self):
        target = self.label()
        if self.random.randrange(3) == 0:
            self.emit(f"la x29, {target}")
            self.emit(self.random.choice([f"jalr {self.rd()}, 0(x29)", "c.jr x29", "c.jalr x29", "jalr x29, 1(x29)"]))
        else:
            self.emit(self.random.choice([f"jal {self.rd()}, {target}", f"c.j {target}"]))
        self.skipped()
        self.place(target)

    def branch(self):
        target = self.label()
        self.emit(self.random.choice([
            f"{self.random.choice(BRANCHES)} {self.rs()}, {self.rs()}, {target}", f"c.beqz {self.short()}, {target}",
            f"c.bnez {self.short()}, {target}"]))
        self.skipped()
        self.place(target)

    def skipped(self):
        for _ in range(self.random.randrange(1, 4)):
            self.random.choice([self.registers, self.immediate, self.store, self.compressed])()

    def control(self):
        name, csr = self.random.choice(["csrrw", "csrrs", "csrrc"]), self.random.choice(["mcause", "mtval"])
        if self.random.randrange(2):
            self.emit(f"{name} {self.rd()}, {csr}, {self.rs()}")
        else:
            self.emit(f"{name}i {self.rd()}, {csr}, {self.random.randrange(32)}")

    # What may raise an exception. Of atomic operations that are misaligned or refused there is none: qemu 7.2 raises those
    # of loads, against the specification (privileged ISA, 3.1.15), and has a misaligned SC fail.
    def word(self):
        """Any 32 bits of the opcodes of arithmetic, or of one that there is not."""
        opcode = self.random.choice([0x33, 0x3B, 0x13, 0x1B, 0x33, 0x3B, 0x13, 0x1B, 0x07, 0x27, 0x43, 0x53, 0x57, 0x0B, 0x2B, 0x5B,
                                     0x7B, 0x77, 0x1F, 0x3F, 0x7F])
        rd = self.random.randrange(29)
        word = self.random.getrandbits(32) & ~0xFFF | rd << 7 | opcode
        if self.random.randrange(2):  # a funct7 near to one that there is
            word = word & 0x01FFFFFF | self.random.choice([0, 1, 2, 0x20, 0x21, 0x10]) << 25
        self.emit(f".word {word:#010x}")

    def halfword(self):
        """Any 16 bits that neither jump nor access memory."""
        while True:
            word = self.random.getrandbits(16)
            quadrant, funct3, rd, rs2 = word & 3, word >> 13, word >> 7 & 31, word >> 2 & 31
            fits = {0: funct3 in (0, 1, 4, 5), 1: funct3 in (0, 1, 2, 3, 4),
                    2: funct3 in (0, 1, 5) or funct3 == 4 and (rs2 != 0 or word == 0x8002)}.get(quadrant, False)
            if fits and (rd < 29 or quadrant == 0):
                self.emit(f".half {word:#06x}")
                return

    def refused(self):
        self.emit(f"li x29, {NOWHERE + self.random.randrange(0, 0x1000, 8)}")
        self.emit(self.random.choice([
            f"{self.random.choice(LOADS)} {self.rd()}, {8 * self.random.randrange(16)}(x29)",
            f"{self.random.choice(STORES)} {self.rs()}, {8 * self.random.randrange(16)}(x29)",
            f"lr.w {self.rd()}, (x29)", "jalr x1, 0(x29)"]))

    def misaligned(self):
        self.emit(f"addi x29, x31, {self.random.choice([1, 2, 3, 5, 6, 7, 9])}")
        self.emit(f"lr.d {self.rd()}, (x29)")

    def call(self):
        self.emit(self.random.choice(["ecall", "ebreak", "c.ebreak"]))

    def interrupt(self):
        """Its own software interrupt, by the line of the machine's interrupt controller."""
        self.emit("csrsi mie, 8")
        self.emit("csrsi mstatus, 8")
        self.emit("li x29, 0x2000000")
        self.emit("li x30, 1")
        self.emit("sw x30, 0(x29)")
        self.emit("j 1f  # qemu looks at its interrupts between blocks")
        self.emit("1: csrci mstatus, 8")

    def program(self, number):
        self.lines.append(f"# Program {number}")
        self.emit(f"la x31, log + {number * LOG_ENTRIES * 24}")
        self.emit("la x30, frame")
        self.emit("sd x31, 16(x30)")
        self.emit("csrw mcause, x0")
        self.emit("csrw mtval, x0")
        self.emit(f"la x30, numbers + {number * 256}")
        for i in range(1, 30):
            self.emit(f"ld x{i}, {8 * i}(x30)")
        self.emit("la x31, window + 2048")
        plain = 4 * [self.registers] + 3 * [self.immediate, self.load, self.store, self.compressed] + 2 * [
            self.shift, self.branch, self.compressed_memory, self.atomic] + [self.upper, self.jump, self.conditional, self.fence]
        traps = 4 * [self.word, self.halfword] + [self.refused, self.misaligned, self.call, self.control]
        for _ in range(4):
            begin = self.label()
            self.emit(f"li x30, {self.random.randrange(1, 6)}")
            self.place(begin)
            for _ in range(self.random.randrange(5, 25)):
                self.random.choice(plain)()
            self.emit("addi x30, x30, -1")
            self.emit(f"bgtz x30, {begin}")
            for _ in range(self.random.randrange(0, 8)):
                self.random.choice(traps)()
                self.emit("la x31, window + 2048")
        if number % 8 == 0:
            self.interrupt()
        self.emit(f"la x30, results + {number * 256}")
        for i in list(range(1, 30)) + [31]:
            self.emit(f"sd x{i}, {8 * i}(x30)")

    def file(self, count):
        self.lines.append(PROLOGUE)
        for number in range(count):
            self.program(number)
        self.lines.append(EPILOGUE)
        self.lines.append("  .data\n  .balign 8\nframe: .fill 4, 8, 0\nnumbers:")
        for _ in range(32 * count):
            self.emit(f".dword {self.number():#x}")
        self.lines.append(f"results: .fill {32 * count}, 8, 0")
        self.lines.append(f"log: .fill {3 * LOG_ENTRIES * count}, 8, 0")
        self.lines.append("window:")
        for _ in range(512 + 8):
            self.emit(f".dword {self.number():#x}")
        self.lines.append("results_end:")
        return "\n".join(self.lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(Generator(int(sys.argv[1])).file(int(sys.argv[2])))
