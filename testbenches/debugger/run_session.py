"""gdb-multiarch on `t3vp run ... --set firmware=riscv --gdb 0`: firmware of four GPUs, a thread each.

  run_session.py T3VP FIRMWARE RUN_FILE

Breaks in t3_dma_map on GPU 1, steps over the write of a register, looks at the hardware, watches a variable, goes on to the
end, where the times are those of a run without a debugger; leaves a run that goes on by itself; then stops cores that all sleep, and ends the run.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from gdb_session import GDB, Server, interrupt_after, require, require_tools, talk

T3VP, FIRMWARE, RUN = sys.argv[1:4]
SETTINGS = ["--set", "firmware=riscv"]
CONNECT = ("target remote 127.0.0.1:PORT", None)

WALK = [
    CONNECT,
    ("info threads", r'1 +Thread 1 "GPU 0"[\s\S]*4 +Thread 4 "GPU 3"'),
    ("monitor map 0", r"GPU 0 map: none"),
    ("backtrace", r"^#0  _start \(\) at .*\n$"),
    # Any GPU's memory and registers from any thread; what cores have beside is their own.
    ("set *(int*)0x100000001000 = 77", None),
    ("set *(long*)0xfffffe0080000000 = 1", None),
    ("thread 3", r"Thread 3"),
    ("p *(int*)0x100000001000", r"= 77$"),
    ("p *(long*)0xfffffe0080000000", r"= 0$"),
    ("x/2xw 0x3f0000000000", r"0x54335650\t0x00000003"),
    ("set *(int*)0x100000001000 = 0", None),
    ("thread 2", r"Thread 2"),
    ("p *(int*)0x100000001000", r"= 0$"),
    ("p *(int*)0x400000000000", r"Cannot access memory"),
    ("break t3_dma_map thread 2", r"Breakpoint 1"),
    ("continue", r'Thread 2 "GPU 1" hit Breakpoint 1, t3_dma_map'),
    ("backtrace", r"\n#\d+ .* in t3_start_c \(\) .*\n#\d+ .* in _start \(\) at .*\n$"),
    ("p operation", r"= T3_UPDATE$"),
    ("p ((struct t3_state*)context)->gpu", r"= 1$"),
    ("p/x peer_output >> 44", r"= 0x0$"),
    ("monitor map", r"GPU 1 map:\n  remote_map of workgroups"),
    ("monitor dma 2", r"GPU 2 dma:"),
    ("p/x $mhartid", r"= 0x1$"),
    ("thread apply all -q p/x $mhartid", r"= 0x3[\s\S]*= 0x2[\s\S]*= 0x1[\s\S]*= 0x0"),
    # The write of a register: memory shows it as soon as the instruction has been stepped.
    ("break t3_store32 thread 2", r"Breakpoint 2"),
    ("continue", r'Thread 2 "GPU 1" hit Breakpoint 2'),
    ("set $address = $a0", None),
    ("set $value = (unsigned)$a1", None),
    ("p/x $address >> 44", r"= 0x1$"),
    ("stepi", None),
    ("p $a1", None),
    ("p *(unsigned*)$address == $value", r"= 1$"),
    ("delete", None),
    ("break t3_barrier thread 2", r"Breakpoint 3"),
    ("continue", r"hit Breakpoint 3, t3_barrier"),
    ("awatch -l ((struct t3_state*)context)->barrier_rounds thread 2", r"[Ww]atchpoint"),
    ("continue", r'Thread 2 "GPU 1" hit Hardware access[\s\S]*Value = 0'),
    ("continue", r'Thread 2 "GPU 1" hit Hardware access'),
    ("delete", None),
    ("monitor time", r"\d+\.\d+ ns simulated"),
    ("monitor errors", r"GPU 1 errors: none"),
    ("break t3_wait_dma thread 3", r"Breakpoint"),
    ("continue", r'Thread 3 "GPU 2" hit Breakpoint \d, t3_wait_dma'),
    ("monitor tracker", r"GPU 2 tracker:\n  Tracker counts workgroups"),
    ("monitor queues", r"queue 0: ring of \d+ packets"),
    ("monitor links", r"link from GPU 2 to GPU 1: \d+ bytes"),
    ("monitor", r"^monitor COMMAND \[GPU\], of the chosen"),
    ("monitor help", r"^monitor COMMAND \[GPU\], of the chosen"),
    ("monitor nonsense", r"^monitor: found nonsense, expected one of tracker, dma, map, queues, links, time, errors, help\n$"),
    ("monitor tracker 99", r"^monitor tracker: found 99, expected a GPU from 0 to 3\n$"),
    ("monitor tracker -1", r"^monitor tracker: found -1, expected a GPU from 0 to 3\n$"),
    ("monitor tracker 1 2", r"^monitor tracker: found 2, expected no more than a GPU's number\n$"),
    ("delete", None),
    ("continue", r"exited normally"),
]

SLEEP = [
    CONNECT,
    ("break t3_wait_kernels thread 1", None),
    ("continue", r'Thread 1 "GPU 0" hit Breakpoint 1'),
    ("delete", None),
    (interrupt_after(0.7), None),
    ("continue", r"SIGINT"),
    ("monitor queues", r"runs"),
    ("info threads", r'4 +Thread 4 "GPU 3"'),
    ("thread 3", r"Thread 3"),
    ("p/x $mhartid", r"= 0x2$"),
    (interrupt_after(0.3), None),
    ("continue", r"SIGINT"),
    ("kill", r"killed"),
]


def total_ns(folder):
    return json.loads((pathlib.Path(folder) / "report.json").read_text())["time_ns"]


require_tools(GDB)
require(pathlib.Path(FIRMWARE).exists(), FIRMWARE)
with tempfile.TemporaryDirectory() as folder:
    alone = pathlib.Path(folder, "alone")
    subprocess.run([T3VP, "run", RUN, *SETTINGS, "--out", alone], check=True, stdout=subprocess.DEVNULL)
    for name, session in {"walk": WALK, "untouched": [CONNECT, ("continue", r"exited normally")]}.items():
        out = pathlib.Path(folder, name)
        with Server(T3VP, "run", RUN, *SETTINGS, "--gdb", "0", "--out", out) as server:
            talk(server.port, FIRMWARE, session)
            code, text, errors = server.end()
            assert code == 0 and "passed" in text, (name, code, text, errors)
        print(name, total_ns(out))
        if name == "untouched":
            assert total_ns(out) == total_ns(alone), (name, total_ns(out), total_ns(alone))
    detached = pathlib.Path(folder, "detached")
    with Server(T3VP, "run", RUN, *SETTINGS, "--gdb", "0", "--out", detached) as server:
        talk(server.port, FIRMWARE, [CONNECT, ("break t3_barrier thread 2", None), ("continue", r"hit Breakpoint 1, t3_barrier"),
                                     ("detach", r"detached")])
        code, text, errors = server.end()
        assert code == 0 and "passed" in text and "goes on without a debugger" in errors, (code, text, errors)
    with Server(T3VP, "run", RUN, *SETTINGS, "--gdb", "0", "--out", pathlib.Path(folder, "faulty")) as server:
        talk(server.port, FIRMWARE, [
            CONNECT, ("break t3_barrier thread 2", None), ("continue", r"hit Breakpoint 1, t3_barrier"), ("delete", None),
            ("set $last = $sp", None), ("set $pc = 0", None),
            ("continue", r'GPU 1: fetch access fault[\s\S]*Thread 2 "GPU 1" received signal SIGSEGV'), ("p/x $pc", r"= 0x0$"),
            ("p $sp == $last", r"= 1$"), ("kill", r"killed")])
        server.end()
    large = ["--set", "workload.gemm.m=8192", "--set", "workload.gemm.k=8192", "--set", "data=timing-only"]
    with Server(T3VP, "run", RUN, *SETTINGS, *large, "--gdb", "0", "--out", pathlib.Path(folder, "large")) as server:
        talk(server.port, FIRMWARE, SLEEP)
        code, _, errors = server.end()
        assert code == 1 and "the debugger has ended the run" in errors, (code, errors)
