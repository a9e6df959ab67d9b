"""gdb-multiarch on `t3vp riscv FILE --gdb 0`: breaks, steps, watches, reads and writes, interrupts, goes on to the end.

  riscv_session.py T3VP SOURCE_DIRECTORY
"""

import pathlib
import sys
import tempfile

from gdb_session import COMPILER, GDB, Server, build, interrupt_after, require_tools, talk

T3VP, HERE = sys.argv[1], pathlib.Path(sys.argv[2])

SESSION = [
    ("target remote 127.0.0.1:PORT", r"_start"),
    ("info threads", r"\* 1 .*core"),
    # Registers, general and control, read and written.
    ("p/x $pc", r"= 0x80000000$"),
    ("p/x $misa", r"= 0x8000000000001105$"),
    ("p $zero = 5", None),
    ("p $zero", r"= 0$"),
    ("set $misa = 0", r'Could not write register "misa"'),
    ("set $mhartid = 5", r'Could not write register "mhartid"'),
    ("set $mstatus = 0xffff", r'Could not write register "mstatus"'),
    ("p/x $mstatus", r"= 0x1800$"),
    ("set $pc = 0x80000001", r'Could not write register "pc"'),
    ("set *(long*)0x7ffffff8 = 1", r"Cannot access memory"),
    ("p/x $s11 = 0x1234567812345678", r"= 0x1234567812345678$"),
    ("p/x $s11", r"= 0x1234567812345678$"),
    ("p/x $mscratch = 0x77", None),
    ("maintenance flush register-cache", None),
    ("p/x $mscratch", r"= 0x77$"),
    # Breakpoints, of both kinds, and steps.
    ("break sum", r"Breakpoint 1 at 0x8"),
    ("continue", r"Breakpoint 1, sum"),
    ("p $a0", r"= 10$"),
    ("p/x $mtvec == (long)&trap", r"= 0x1$"),
    ("stepi", None),
    ("p $t1", r"= 10$"),
    # Traps are stepped into, not run through: by an ecall, and where no memory is.
    ("set $stopped = $pc", None),
    ("set $pc = (long)&asks", None),
    ("stepi", None),
    ("p $pc == (long)&trap && $mcause == 11", r"= 1$"),
    ("set $pc = 0x10", None),
    ("stepi", None),
    ("p $pc == (long)&trap && $mcause == 1", r"= 1$"),
    ("set $pc = $stopped", None),
    ("hbreak add_done", r"Hardware assisted breakpoint 2"),
    ("continue", r"Breakpoint 2, add_done"),
    ("p $a0", r"= 10$"),
    ("continue", r"Breakpoint 2, add_done"),
    ("p $a0", r"= 19$"),
    ("delete", None),
    # Memory, and what watches it.
    ("p *(long*)&left", r"= 9$"),
    ("watch *(long*)&left", r"Hardware watchpoint 3"),
    ("continue", r"Old value = 9\s+New value = 8"),
    ("delete", None),
    ("awatch *(long*)&result", r"access \(read/write\) watchpoint"),
    ("continue", r"Old value = 0\s+New value = 55"),
    ("delete", None),
    ("rwatch *(long*)&released", r"read watchpoint"),
    ("continue", r"Value = 0"),
    ("delete", None),
    ("x/2xw 0x7ffffff8", r"Cannot access memory"),
    # Ctrl-C in a loop; code that has been executed is replaced; the program is let go on.
    (interrupt_after(0.5), None),
    ("continue", r"SIGINT"),
    ("p $pc >= (long)&wait_for_debugger && $pc < (long)&answer", r"= 1$"),
    ("x/i &answer", r"li\s+a0,41"),
    ("set var *(unsigned*)&answer = 0x02a00513", None),
    ("monitor map", r"core with memory alone"),
    ("set var *(long*)&released = 1", None),
    ("break patched", None),
    ("continue", r"Breakpoint \d+, patched"),
    ("p $a0", r"= 42$"),
    ("continue", r"exited normally"),
]

# A run that cannot end by itself lets the developer look first; who leaves lets it go on, who kills ends it.
ENDS = [
    ([("continue", r"not ended after 100000 instructions; the run is at its end\s+[\s\S]*SIGABRT"), ("p/x $pc", r"0x8"),
      ("continue", r"exited with code 01")], (1, "--max-instructions")),
    ([("set var *(long*)&released = 1", None), ("continue", r"exited with code 01")], (1, "failed with 3")),
    ([("set var *(long*)&released = 1", None), ("set var *(unsigned*)&answer = 0x02a00513", None), ("detach", r"detached")],
     (0, "passed")),
    ([("kill", r"killed")], (1, "the debugger has ended the run")),
]

# A trap that nobody handles stops at its instruction, with the registers of that moment; then the run ends.
FAULTS = [
    ("lw a1, 0(a0)", r"load access fault[\s\S]*SIGSEGV"),
    (".word 0", r"illegal instruction[\s\S]*SIGILL"),
]


def check_faults(folder):
    for number, (instruction, stops) in enumerate(FAULTS):
        source, program = pathlib.Path(folder, f"fault{number}.S"), pathlib.Path(folder, f"fault{number}.elf")
        source.write_text(f"        .globl _start, fault, tohost\n_start: li a0, 0x10\nfault:  {instruction}\n1:      j 1b\n"
                          "        .data\n        .balign 8\ntohost: .dword 0\n")
        build(source, program)
        with Server(T3VP, "riscv", program, "--gdb", "0") as server:
            talk(server.port, program, [
                ("target remote 127.0.0.1:PORT", r"_start"), ("continue", stops), ("p $pc == (long)&fault", r"= 1$"),
                ("p/x $a0", r"= 0x10$"), ("backtrace", r"^#0 .*fault "), ("continue", r"SIGABRT"),
                ("continue", r"exited with code 01")])
            code, out, err = server.end()
            assert code == 1 and "raises an exception itself" in out + err, (code, out, err)


require_tools(GDB, COMPILER)
with tempfile.TemporaryDirectory() as folder:
    program = pathlib.Path(folder, "program.elf")
    build(HERE / "program.S", program)
    with Server(T3VP, "riscv", program, "--gdb", "0") as server:
        talk(server.port, program, SESSION)
        code, out, err = server.end()
        assert code == 0 and "passed" in out, (code, out, err)
    check_faults(folder)
    for session, (code, said) in ENDS:
        with Server(T3VP, "riscv", program, "--gdb", "0", "--max-instructions", "100000") as server:
            talk(server.port, program, [("target remote 127.0.0.1:PORT", r"_start"), *session])
            ended, out, err = server.end()
            assert ended == code and said in out + err, (session, ended, out, err)
