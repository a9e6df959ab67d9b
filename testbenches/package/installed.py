"""The package as somebody else has it: installed, then moved to a folder that nothing knows."""

import contextlib
import pathlib
import subprocess
import sys
import tempfile


def run(*command, **options):
    """What it prints; the test fails when it does."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{command} ends with {done.returncode}:\n{done.stdout}")
    return done.stdout


@contextlib.contextmanager
def moved_package(binary):
    """The folder that contains it, `package`, and is otherwise empty."""
    with tempfile.TemporaryDirectory(prefix="t3vp-package-") as folder:
        place = pathlib.Path(folder)
        run("cmake", "--install", binary, "--prefix", place / "installed")
        (place / "installed").rename(place / "package")
        yield place


def files_with(folder, paths):
    """Files that contain one of these paths."""
    wanted = [str(path).encode() for path in paths]
    return [file for file in sorted(folder.rglob("*")) if file.is_file()
            and any(path in file.read_bytes() for path in wanted)]
