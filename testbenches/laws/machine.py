"""A run as a dictionary from paths of keys to values, how it is executed, and the command that a reader can paste."""
import copy
import functools
import json
import pathlib
import shlex
import subprocess
import tempfile

BASE_RUN = "configs/runs/gemm-rs-4gpu.json"
TIMEOUT_S = 300


class IllegalRun(Exception):
    """t3vp refuses the run as bad input."""


class FailedRun(Exception):
    """The simulation fails, for instance because it beats a lower bound."""


def setting(value):
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def arguments_of(run):
    settings = [part for path, value in run.items() for part in ("--set", f"{path}={setting(value)}")]
    return ["run", BASE_RUN, *settings]


class Machine:
    """Executes runs from the root of the checkout. It remembers no report: a pair asks for each of its runs once."""

    def __init__(self, t3vp, root):
        self.t3vp, self.root = pathlib.Path(t3vp).resolve(), pathlib.Path(root).resolve()

    def report_of(self, run):
        with tempfile.TemporaryDirectory(prefix="t3vp-laws-") as folder:
            command = [str(self.t3vp), *arguments_of(run), "--out", folder]
            try:
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                                      cwd=self.root, timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired as late:
                raise FailedRun(f"no end within {TIMEOUT_S} s\n  {self.command_of(run)}") from late
            if done.returncode != 0:
                text = f"exit code {done.returncode}: {done.stdout.strip()[-2000:]}\n  {self.command_of(run)}"
                raise (IllegalRun if done.returncode == 2 else FailedRun)(text)
            return json.loads(pathlib.Path(folder, "report.json").read_text())

    def configuration_of(self, run):
        """The run with every key of its system, defaults as well, as another run."""
        done = subprocess.run([str(self.t3vp), *arguments_of(run), "--print-config"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, cwd=self.root, timeout=TIMEOUT_S)
        if done.returncode != 0:
            raise IllegalRun(done.stdout)
        return json.loads(done.stdout)

    def command_of(self, run):
        binary = self.t3vp.relative_to(self.root) if self.t3vp.is_relative_to(self.root) else self.t3vp
        return shlex.join([str(binary), *arguments_of(run)])

    def value_of(self, run, path):
        """The value that a run has for a key, from its settings or else from its system's files; None without one."""
        for prefix, keys in prefixes(path):
            if prefix in run and (isinstance(run[prefix], dict) or not keys):
                return looked_up(run[prefix], keys)
        if not path.startswith("system."):
            return None
        return looked_up(system_content(self.root, run["system"]), path.split(".")[1:])


def prefixes(path):
    """The path and all its beginnings, the longest first, each with the keys that are left."""
    keys = path.split(".")
    return [(".".join(keys[:end]), keys[end:]) for end in range(len(keys), 0, -1)]


def looked_up(value, keys):
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


@functools.lru_cache(maxsize=None)
def system_content(root, file):
    path = root / file
    content = json.loads(path.read_text())
    content["memory"]["dram"] = json.loads((path.parent / content["memory"]["file"]).read_text())
    return content


def with_value(run, path, value):
    """A copy of the run with the value, inside the object that the run has for a beginning of the path, if it does."""
    changed = copy.deepcopy(run)
    for prefix, keys in prefixes(path)[1:]:
        if isinstance(changed.get(prefix), dict):
            place = changed[prefix]
            for key in keys[:-1]:
                place = place[key]
            place[keys[-1]] = value
            return changed
    changed[path] = value
    return changed
