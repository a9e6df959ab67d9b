"""Talks to a program under t3vp by the real gdb-multiarch: a command at a time, with what it has to answer.

Without gdb-multiarch or the cross compiler a test says so and ends with 77 (CTest: skipped), or fails when T3VP_ALL_TESTS
is set.
"""

import os
import re
import shutil
import subprocess
import sys

GDB, COMPILER = "gdb-multiarch", "riscv64-unknown-elf-gcc"
MARK = "=== command"


def require(is_there, what):
    if not is_there:
        print(f"NOT RUN: {what} not found")
        sys.exit(1 if os.environ.get("T3VP_ALL_TESTS") else 77)


def require_tools(*tools):
    for tool in tools:
        require(shutil.which(tool) is not None, tool)


def build(source, executable, *options):
    subprocess.run([COMPILER, "-march=rv64imac_zicsr_zifencei", "-mabi=lp64", "-mcmodel=medany", "-nostdlib", "-static", "-g",
                    *options, "-Wl,-Ttext=0x80000000,-n,--no-relax,--no-warn-rwx-segments", source, "-o", executable], check=True)


class Server:
    """t3vp, from the line that names the port until it ends."""

    def __init__(self, *command, **options):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        line = self.process.stdout.readline()
        found = re.search(r"waiting for a debugger at 127\.0\.0\.1:(\d+)$", line.strip())
        assert found, line + self.process.stderr.read()
        self.port = int(found.group(1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def end(self, timeout=60):
        out, err = self.process.communicate(timeout=timeout)
        return self.process.returncode, out, err


def interrupt_after(seconds):
    """A command that has gdb interrupted as by Ctrl-C, while the next one waits."""
    return f"shell (sleep {seconds}; kill -INT $PPID) >/dev/null 2>&1 &"


def talk(port, executable, session, timeout=60):
    """`session`: pairs of a command and a regular expression that its output matches somewhere (None: whatever)."""
    commands = ["set confirm off", "set pagination off", "set width 0"]
    for number, (command, _) in enumerate(session):
        commands += [f"echo {MARK} {number}\\n", command.replace("PORT", str(port))]
    arguments = [argument for command in commands for argument in ("-ex", command)]
    # An error ends a file of commands, but not those of the command line.
    gdb = subprocess.Popen([GDB, "-nx", "-q", "-batch", *arguments, str(executable)], text=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        text, _ = gdb.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        gdb.kill()
        raise AssertionError(f"gdb hangs:\n{gdb.communicate()[0]}") from None
    outputs = re.split(rf"^{MARK} \d+\n", text, flags=re.MULTILINE)[1:]
    for number, (command, expected) in enumerate(session):
        output = outputs[number] if number < len(outputs) else "(not executed)"
        if expected is not None and not re.search(expected, output, re.MULTILINE):
            raise AssertionError(f"{command}\n  answers: {output}\n  expected: {expected}\nsession:\n{text}")
