"""Installs into the build folder; builds and runs the bench of this folder as another project.

  bench_test.py SOURCE_DIRECTORY BINARY_DIRECTORY
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE, BINARY = (pathlib.Path(argument) for argument in sys.argv[1:3])


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command} ends with {done.returncode}:\n{done.stdout}")


def main():
    prefix = BINARY / "installed"
    run("cmake", "--install", BINARY, "--prefix", prefix)
    with tempfile.TemporaryDirectory(prefix="t3vp-bench-") as folder:
        project = pathlib.Path(folder) / "bench"
        shutil.copytree(SOURCE / "testbenches/package/bench", project)
        run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", project / "build")
        run(project / "build/bench")


main()
