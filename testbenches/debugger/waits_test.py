"""What `--gdb` waits for, how long, and what becomes of the run when nobody comes, somebody else does, or the debugger goes.

  waits_test.py T3VP FIRMWARE RUN_FILE SOURCE_DIRECTORY
"""

import pathlib
import signal
import sys
import tempfile
import time

from client import Client
from gdb_session import COMPILER, Server, build, require, require_tools

T3VP, FIRMWARE, RUN, HERE = sys.argv[1:5]
GOES_ON = "t3vp: the run goes on without a debugger, which may come back to 127.0.0.1:%d\n"
LOST = "t3vp: the connection to the debugger has ended without detach or kill\n" + GOES_ON


def check(found, **expected):
    code, out, err = found
    assert code == expected["code"] and expected.get("out", "") in out and err == expected["err"], (found, expected)


def nobody_comes(program):
    with Server(T3VP, "riscv", program, "--gdb", "0", "--timeout", "0.5") as server:
        check(server.end(10), code=1,
              err=f"t3vp: {program}: --timeout: no debugger has come within 0.5 s (pc 0x80000000, 0 instructions retired)\n")


def wait_is_told_and_ended(*command):
    """By Ctrl-C: the line that it is told after 5 s, and the last one."""
    with Server(*command) as server:
        time.sleep(6)
        server.process.send_signal(signal.SIGINT)
        check(server.end(10), code=-signal.SIGINT,
              err=f"t3vp: no debugger has come to 127.0.0.1:{server.port} for 5 s: it is waited for, Ctrl-C ends the wait\n"
                  "t3vp: ended while it waited for a debugger\n")


def others_come_first(program):
    with Server(T3VP, "riscv", program, "--gdb", "0") as server:
        Client(server.port).leave()
        time.sleep(0.2)
        browser = Client(server.port)
        browser.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert browser.is_told_off()
        silent = Client(server.port)
        debugger = Client(server.port)
        assert debugger.ask("?") == "T05thread:1;"
        assert silent.is_told_off()
        debugger.go("k")
        ignored = f"t3vp: a connection to 127.0.0.1:{server.port} has %s: ignored, a debugger is waited for\n"
        code, _, err = server.end(10)
        lines = [ignored % "ended without a packet", ignored % "sent what no debugger sends"]
        assert code == 1 and err.startswith("".join(lines) + f"t3vp: {program}: the debugger has ended the run"), (code, err)


def debugger_goes(run, farewell):
    """While the run stands, which then goes on by itself."""
    with run() as server:
        debugger = Client(server.port)
        assert debugger.ask("?") == "T05thread:1;"
        if farewell == GOES_ON:
            assert debugger.ask("D") == "OK"
        debugger.leave()
        check(server.end(60), code=0, out="passed", err=farewell % server.port)


def debugger_goes_while_it_runs(program):
    with Server(T3VP, "riscv", program, "--gdb", "0", "--timeout", "2") as server:
        debugger = Client(server.port)
        debugger.go("vCont;c")
        time.sleep(0.5)
        debugger.leave()
        code, _, err = server.end(60)
        assert code == 1 and err.startswith(LOST % server.port + f"t3vp: {program}: --timeout: the program has not ended after 2 s"), (code, err)


def debugger_comes_back(*command):
    """Where the program is by then, with a server that knows nothing of the one before; others are told off meanwhile."""
    with Server(*command) as server:
        before = Client(server.port)
        begin = before.ask("p20")
        assert before.ask("Z0,4,4") == "OK"
        assert before.ask("D") == "OK"
        time.sleep(0.5)
        stranger = Client(server.port)
        stranger.send(b"GET / HTTP/1.1\r\n\r\n")
        assert stranger.is_told_off()
        again = Client(server.port)
        assert again.ask("?") == "T05thread:1;"
        assert again.ask("p20") != begin
        try:
            Client(server.port)
            raise AssertionError("a second debugger beside the first")
        except ConnectionRefusedError:
            pass
        again.leave()
        time.sleep(0.5)
        last = Client(server.port)
        assert last.ask("?") == "T05thread:1;"
        last.go("k")
        code, _, err = server.end(60)
        stranger_line = f"t3vp: a connection to 127.0.0.1:{server.port} has sent what no debugger sends: ignored, a debugger is waited for\n"
        assert code == 1 and err.startswith((GOES_ON + stranger_line + LOST).replace("%d", str(server.port))), (code, err)
        assert err.endswith("\n") and "the debugger has ended the run" in err, err


def time_is_over_while_it_stands(program):
    with Server(T3VP, "riscv", program, "--gdb", "0", "--timeout", "1") as server:
        debugger = Client(server.port)
        assert debugger.ask("?") == "T05thread:1;"
        code, _, err = server.end(10)
        assert code == 1 and "--timeout: the program has not ended after 1 s (pc 0x80000000" in err, (code, err)
        assert debugger.is_told_off()


def time_is_over_while_it_runs(program):
    with Server(T3VP, "riscv", program, "--gdb", "0", "--timeout", "1") as server:
        debugger = Client(server.port)
        debugger.go("vCont;c")
        reason = "--timeout: the program has not ended after 1 s; the run is at its end\n"
        assert debugger.answer() == "O" + reason.encode().hex()
        assert debugger.answer() == "W01"
        assert server.end(10)[0] == 1


def limit_leaves_out_what_stands(run):
    """More of the host's time than the run takes, and less than the debugger lets it stand."""
    with run("--timeout", "3", *(f"--set=workload.gemm.{size}" for size in ("m=256", "n=256", "k=64"))) as server:
        time.sleep(2)
        debugger = Client(server.port)
        assert debugger.ask("?") == "T05thread:1;"
        time.sleep(2)
        debugger.go("vCont;c")
        assert debugger.answer() == "W00"
        check(server.end(60), code=0, out="passed", err="")


def limit_holds_for_what_runs(run):
    with run("--timeout", "0.5", "--set", "workload.gemm.m=8192", "--set", "workload.gemm.k=8192") as server:
        debugger = Client(server.port)
        debugger.go("vCont;c")
        code, _, err = server.end(60)
        assert code == 1 and err.startswith("t3vp: limits.wall_s: the run is not over after 0.5 s"), (code, err)
        assert debugger.is_told_off()


require_tools(COMPILER)
require(pathlib.Path(FIRMWARE).exists(), FIRMWARE)
with tempfile.TemporaryDirectory() as folder:
    waits = pathlib.Path(folder, "waits.elf")  # spins until a debugger lets it go on
    build(pathlib.Path(HERE, "program.S"), waits)

    def node(*options):
        return Server(T3VP, "run", RUN, "--set", "firmware=riscv", "--out", pathlib.Path(folder, "out"), "--gdb", "0", *options)

    nobody_comes(waits)
    wait_is_told_and_ended(T3VP, "riscv", waits, "--gdb", "0")
    wait_is_told_and_ended(T3VP, "run", RUN, "--set", "firmware=riscv", "--out", pathlib.Path(folder, "out"), "--gdb", "0")
    others_come_first(waits)
    debugger_goes(node, LOST)
    debugger_goes(node, GOES_ON)
    debugger_goes_while_it_runs(waits)
    debugger_comes_back(T3VP, "riscv", waits, "--gdb", "0")
    debugger_comes_back(T3VP, "run", RUN, "--set", "firmware=riscv", "--out", pathlib.Path(folder, "out"), "--gdb", "0",
                        "--set", "workload.gemm.m=8192", "--set", "workload.gemm.k=8192")
    time_is_over_while_it_stands(waits)
    time_is_over_while_it_runs(waits)
    limit_leaves_out_what_stands(node)
    limit_holds_for_what_runs(node)
