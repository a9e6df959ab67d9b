"""t3vp registers shell at a terminal: completion, history, mistakes; and with a script for standard input.

  shell_test.py T3VP SOURCE_DIRECTORY
"""

import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
import unittest

T3VP, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
del sys.argv[1:3]
COMMAND = [T3VP, "registers", "shell", "--system", str(SOURCE / "configs/systems/small-4.json"), "--gpus", "2"]
SECONDS = 30


class Terminal:
    """The shell at a terminal of its own."""

    def __init__(self):
        self.process, self.line = pty.fork()
        if self.process == 0:
            os.environ["TERM"] = "vt100"
            os.execv(T3VP, COMMAND)
        self.text = ""

    def type(self, text):
        """At a prompt, when the shell has the keys: until then the terminal takes Ctrl-C and Ctrl-D for itself."""
        self.wait_for_keys(are_its_own=True)
        os.write(self.line, text.encode())

    def wait_for_keys(self, are_its_own):
        """Until keys such as Ctrl-C are the shell's own, or are not any more: a prompt is shown a moment before."""
        deadline = time.monotonic() + SECONDS
        while bool(termios.tcgetattr(self.line)[3] & termios.ICANON) == are_its_own:
            if time.monotonic() > deadline:
                raise AssertionError(f"no change of the terminal within {SECONDS} s")
            time.sleep(0.01)

    def read(self):
        """More of what is shown; False at the end."""
        if not select.select([self.line], [], [], SECONDS)[0]:
            raise AssertionError(f"nothing more within {SECONDS} s behind {self.text!r}")
        try:
            part = os.read(self.line, 65536).decode()
        except OSError:  # the other side has gone
            part = ""
        self.text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()=>][A-Z0-9]?", "", part)
        return part != ""

    def expect(self, pattern):
        """Waits until this is shown behind what was expected before, and forgets up to it."""
        while not (match := re.search(pattern, self.text)):
            if not self.read():
                raise AssertionError(f"{pattern!r} not in {self.text!r}")
        self.text = self.text[match.end():]
        return match

    def end(self):
        """The exit code, or the negative number of the signal."""
        while self.read():
            pass
        status = os.waitpid(self.process, 0)[1]
        os.close(self.line)
        return os.waitstatus_to_exitcode(status)


class Shell(unittest.TestCase):
    def test_tab_completes_names_and_values(self):
        shell = Terminal()
        shell.expect(r"0\.000 ns> ")
        shell.type("gpu1.dm\tlay\t.el\t = bf\t\n")
        shell.expect(r"100\.000 ns> ")  # read and written
        shell.type("gpu1.dma.layout\n")
        shell.expect(r"gpu1\.dma\.layout = 0x100 \(wavefronts = 0, element = bf16\)")
        shell.expect(r"ns> ")
        shell.type("gpu0.dma.fill_\t\t")
        shell.expect(r"  gpu0\.dma\.fill_base\r\n  gpu0\.dma\.fill_bytes\r\n")
        shell.type("a\t = 0x40\n")
        shell.expect(r"200\.000 ns> ")
        shell.type("expect gpu0.dma.fill_base == 0x40\nquit\n")
        self.assertEqual(shell.end(), 0)
        self.assertNotIn("found", shell.text)

    def test_history_has_the_lines_before(self):
        shell = Terminal()
        shell.expect("> ")
        shell.type("gpu0.dma.rows = 7\n")
        shell.expect(r"50\.000 ns> ")
        shell.type("gpu0.dma.columns = 8\n")
        shell.expect(r"100\.000 ns> ")
        shell.type("\x1b[A\x1b[A9\n")  # up, up: of rows, with another digit
        shell.expect(r"150\.000 ns> ")
        shell.type("gpu0.dma.rows\n")
        shell.expect(r"gpu0\.dma\.rows = 79\r\n")
        shell.expect(r"ns> ")
        shell.type("\x04")
        self.assertEqual(shell.end(), 0)

    def test_mistakes_and_failures_end_nothing(self):
        shell = Terminal()
        shell.expect("> ")
        shell.type("gpu0.dma.rwos = 1\n")
        shell.expect(r"column 10: found rwos, expected one of output_base, ")
        shell.expect(r"ns> ")
        shell.type("expect gpu0.dma.rows == 1\n")
        shell.expect(r"gpu0\.dma\.rows: found 0x0, expected == 0x1")
        shell.expect(r"ns> ")
        shell.type("gpu0.dma.used = 1\n")
        shell.expect(r"gpu0\.dma\.used: refused, access_denied: ")
        shell.expect(r"ns> ")
        shell.type("help\n")
        shell.expect("Tab completes, Ctrl-C drops the line, Ctrl-D ends")
        shell.expect(r"ns> ")
        shell.type("\t\t")  # of all there is
        shell.expect("  refused\r\n")
        shell.type("\ngpu0.system.gpus\nexit\n")
        shell.expect(r"gpu0\.system\.gpus = 2")
        self.assertEqual(shell.end(), 0)

    def test_control_c_drops_the_line_and_control_d_ends(self):
        shell = Terminal()
        shell.expect("> ")
        shell.type("gpu0.dma.rows = 5\x01\x06")  # the cursor is within it
        shell.expect("rows = 5")
        shell.type("\x03")
        shell.expect(r"\^C\r\n[\r\0]*0\.000 ns> ")
        shell.type("gpu0.dma.rows\n")
        shell.expect(r"gpu0\.dma\.rows = 0\r\n")
        shell.expect(r"50\.000 ns> ")
        shell.type("\x03\x03")
        shell.expect(r"\^C\r\n[\r\0]*50\.000 ns> \^C\r\n[\r\0]*50\.000 ns> ")
        shell.type("\x04")
        self.assertEqual(shell.end(), 0)

    def test_a_signal_ends_it_and_leaves_the_terminal_as_it_was(self):
        shell = Terminal()
        shell.expect("> ")
        shell.type("gpu0.dma.ro")
        shell.expect("gpu0.dma.ro")
        os.kill(shell.process, signal.SIGINT)
        try:
            shell.wait_for_keys(are_its_own=False)
        except termios.error:
            pass  # the process has ended before
        self.assertEqual(shell.end(), -signal.SIGINT)

    def run_with(self, text):
        return subprocess.run(COMMAND, input=text, capture_output=True, timeout=SECONDS, check=False)

    def test_standard_input_is_a_script(self):
        result = self.run_with(b"gpu0.dma.rows = 5\n\nexpect gpu0.dma.rows == 5 # right\ngpu0.dma.rows")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"gpu0.dma.rows = 5\n", b""))
        result = self.run_with(b"gpu0.dma.rows\nexpect gpu0.dma.rows == 5\ngpu0.dma.rows\n")
        self.assertEqual((result.returncode, result.stdout), (1, b"gpu0.dma.rows = 0\n"))
        self.assertEqual(result.stderr, b"standard input:2:8: gpu0.dma.rows: found 0x0, expected == 0x5\n")
        result = self.run_with(b"gpu0.dma.rows = x\n")
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        self.assertEqual(result.stderr,
                         b"standard input:1:17: found x, expected a number up to 0xffffffff\n")
        self.assertEqual(self.run_with(b"quit\ngpu0.dma.rows = x\n").returncode, 0)
        self.assertEqual(self.run_with(b"x" * (2 << 20)).returncode, 2)


if __name__ == "__main__":
    unittest.main()
