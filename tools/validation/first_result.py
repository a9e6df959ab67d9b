"""README's first result: the picture of the methods on one sub-layer."""
import subprocess

from validation.stamps import ROOT

NAME = "first-result"
RUN = "t-nlg-fc2-tp8"
METHODS = ("sequential", "t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc")
PICTURE = "docs/images/t-nlg-fc2-tp8.svg"


def folders(out):
    return [out / NAME / method for method in METHODS]


def make(program, out):
    for method, folder in zip(METHODS, folders(out)):
        command = [program, "run", ROOT / f"configs/runs/{RUN}.json", "--set", f"method={method}", "--out", folder]
        if (code := subprocess.run(command, stdout=subprocess.DEVNULL).returncode) != 0:
            return code
    return 0


def block(out):
    """The picture's line, having drawn it."""
    subprocess.run([ROOT / "tools/plot_methods", ROOT / PICTURE, *folders(out)], check=True)
    return f"![Time of the five methods]({PICTURE})"
