"""Additions to the platform, kept as patches: what the pages say about them stays true.

  additions.py --check         each patch applies, and touches what its header says and nothing else
  additions.py --run WORK      applies all to a copy of the project in WORK, builds it and runs their tests
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mutants"))
import project_copy  # noqa: E402

# What is checked in but made by the build.
GENERATED = ["workload_reference", "parameter_reference"]


class Addition:
    """A patch behind a header: `Adds`, `Touches` (files, and folders that end with /), `Builds` (targets), `Tests`."""

    def __init__(self, path):
        self.name, self.text = path.stem, path.read_text(encoding="utf-8")
        self.fields = dict(re.findall(r"^(\w+): (.*)$", self.text.split("\ndiff --git ")[0], re.MULTILINE))
        if missing := {"Adds", "Touches", "Builds", "Tests"} - set(self.fields):
            raise project_copy.Failure(f"{path.name}: found no {', '.join(sorted(missing))} in its header")
        self.touched = set(re.findall(r"^diff --git a/\S+ b/(\S+)$", self.text, re.MULTILINE))

    def fault(self):
        """What is wrong with it; None when it is right."""
        allowed = self.fields["Touches"].split()
        beside = sorted(path for path in self.touched
                        if not any(path == place or (place.endswith("/") and path.startswith(place)) for place in allowed))
        if beside:
            return f"{self.name}: found a change of {', '.join(beside)}, expected changes of {', '.join(allowed)} alone"
        if unused := [place for place in allowed
                      if not any(path == place or path.startswith(place) for path in self.touched)]:
            return f"{self.name}: found no change of {', '.join(unused)}, which its header names"
        code, said = apply(self, project_copy.PROJECT, "--dry-run")
        return None if code == 0 else f"{self.name}: does not apply:\n{said}"


def apply(addition, tree, *options):
    result = subprocess.run(["patch", "-p1", "--forward", "--no-backup-if-mismatch", "--reject-file=-", *options],
                            cwd=tree, input=addition.text, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            check=False)
    return result.returncode, result.stdout


def require(code, said, what):
    if code != 0:
        raise project_copy.Failure(f"{said[-6000:]}\n{what}")


def build_and_run(additions, work):
    copy = project_copy.Copy(work)
    project_copy.copy_project(copy.tree)
    for addition in additions:
        require(*apply(addition, copy.tree), f"{addition.name} does not apply beside the others")
    copy.configure()
    require(*copy.compile(*GENERATED), "what is made from the descriptions cannot be built")
    targets = sorted({target for addition in additions for target in addition.fields["Builds"].split()})
    require(*copy.compile(*targets), "the project with the additions cannot be built")
    for addition in additions:
        tests = copy.tests(addition.fields["Tests"])
        failed = [test["name"] for test in tests if not project_copy.passes(test, copy.build)]
        if not tests or failed:
            raise project_copy.Failure(f"{addition.name}: found {len(tests)} tests, of which failed: "
                                       f"{', '.join(failed) or 'none'}; expected one or more that pass")
        print(f"{addition.name}: {addition.fields['Adds']} {len(addition.touched)} files, {len(tests)} tests passed")


def main():
    additions = [Addition(path) for path in sorted(HERE.glob("*.patch"))]
    if sys.argv[1:2] == ["--check"] and len(sys.argv) == 2:
        faults = [fault for fault in (addition.fault() for addition in additions) if fault]
        print("\n".join(faults))
        return 1 if faults or not additions else 0
    if sys.argv[1:2] == ["--run"] and len(sys.argv) == 3:
        build_and_run(additions, pathlib.Path(sys.argv[2]).resolve())
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main())
    except project_copy.Failure as failure:
        print(failure, file=sys.stderr)
        sys.exit(1)
