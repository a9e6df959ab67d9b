"""README's first result: the picture of the methods on one sub-layer, and the table of methods on embedding tables."""
import subprocess

from validation.stamps import ROOT

NAME = "first-result"
RUNS = {"t-nlg-fc2-tp8": ("sequential", "t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc"),
        "embedding-4gpu": ("bulk", "zero-copy", "fused")}
PICTURE = "docs/images/t-nlg-fc2-tp8.svg"


def folders(run, out):
    return [out / NAME / run / method for method in RUNS[run]]


def make(program, out):
    for run in RUNS:
        for method, folder in zip(RUNS[run], folders(run, out)):
            command = [program, "run", ROOT / f"configs/runs/{run}.json", "--set", f"method={method}", "--out", folder]
            if (code := subprocess.run(command, stdout=subprocess.DEVNULL).returncode) != 0:
                return code
    reports = [folder / "report.json" for folder in folders("embedding-4gpu", out)]
    printed = subprocess.run([program, "compare", *reports], stdout=subprocess.PIPE, text=True)  # 1: they differ
    (out / NAME / "compare.txt").write_text(printed.stdout)
    return 0 if printed.returncode == 1 else 1


def block(what, out):
    """The picture's line, having drawn it, or the table as t3vp compare prints it."""
    if what == "picture":
        subprocess.run([ROOT / "tools/plot_methods", ROOT / PICTURE, *folders("t-nlg-fc2-tp8", out)], check=True)
        return f"![Time of the five methods]({PICTURE})"
    return "\n".join(f"    {line}" for line in (out / NAME / "compare.txt").read_text().split("\n\n")[0].splitlines())
