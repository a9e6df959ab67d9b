"""Makes results: one folder for each experiment, with stamp.json beside what t3vp writes."""
import datetime
import hashlib
import json
import shutil
import subprocess
import sys
import time

from validation import first_result, measured, pages, stamps
from validation.stamps import ROOT

REPLICATES = 3


def file_of(name):
    return ROOT / "configs/experiments" / f"{name}.json"


def build(program):
    """Builds the program, so that it is of the sources that the stamp names."""
    folder = program.parent
    cache = folder / "CMakeCache.txt"
    if not cache.exists() or f"CMAKE_HOME_DIRECTORY:INTERNAL={ROOT}\n" not in cache.read_text():
        sys.exit(f"{program}: not in a build folder of {ROOT}, so that nobody knows its sources: cmake --preset release")
    if subprocess.run(["cmake", "--build", folder, "--target", program.name], stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit(f"{program} does not build")


def key_of(name, program, replicates):
    """What decides whether results that are there can stay."""
    tree = stamps.stamp_of_tree()
    return {"sources": tree.sources, "configs": tree.configs, "experiment": stamps.digest_of_experiment(name),
            "program": hashlib.sha256(program.read_bytes()).hexdigest()[:12], "replicates": replicates}


def command_of(name, options, replicates):
    command = [options.program, "experiment", file_of(name), "--out", options.out / name, "--runs", options.out / "runs"]
    if name == measured.NAME:
        command = measured.command(options.program, options.out)
    if options.jobs:
        command += ["--jobs", options.jobs]
    return command + (["--replicates", str(replicates)] if replicates > 1 else [])


def make(name, options, replicates):
    """Makes an experiment's results and their stamp."""
    folder = options.out / name
    key = key_of(name, options.program, replicates)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stamp.json").unlink(missing_ok=True)
    begin = time.monotonic()
    if name == first_result.NAME:
        code = first_result.make(options.program, options.out)
    else:
        code = subprocess.run(command_of(name, options, replicates), stdout=subprocess.DEVNULL).returncode
    seconds = round(time.monotonic() - begin)
    if code != 0:
        sys.exit(f"{name} failed after {seconds} s")
    if key_of(name, options.program, replicates) != key:
        sys.exit(f"{name}: the sources, the configuration or the program changed while it ran: run it again")
    made = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    stamp = {"commit": stamps.stamp_of_tree().commit, "made": made, "seconds": seconds, **key}
    (folder / "stamp.json").write_text(json.dumps(stamp, indent=1) + "\n")
    print(f"{name} took {seconds} s", flush=True)


def duration(name, options):
    seconds = stamps.read(options.out / name).get("seconds")
    return f"{name} ({seconds} s when last made)" if seconds is not None else name


def make_missing(names, options):
    """Makes those whose results are not there, and prints before which these are."""
    for name in names:
        if name not in (first_result.NAME, measured.NAME) and not file_of(name).exists():
            sys.exit(f"no experiment {name} in configs/experiments")
    if not shutil.which("gnuplot"):
        sys.exit("no gnuplot, which draws the pages' pictures: sudo apt-get install gnuplot-nox")
    build(options.program)
    repeated = pages.with_spreads()
    replicates = {name: REPLICATES if name in repeated else 1 for name in names}
    is_made = {name: key_of(name, options.program, replicates[name]).items() <= stamps.read(options.out / name).items()
               for name in names}
    print("there already: " + (", ".join(name for name in names if is_made[name]) or "none"))
    print("to be made: " + (", ".join(duration(name, options) for name in names if not is_made[name]) or "none"), flush=True)
    for name in names:
        if not is_made[name]:
            make(name, options, replicates[name])
