"""Builds and runs every example with the installed and moved package alone.

  examples_test.py SOURCE_DIRECTORY BINARY_DIRECTORY

No file of the package, and none that its users generate, names a path of the sources, of the build or of the first
installation. Libraries do in builds with debug information or coverage, and are then not looked at.
"""

import os
import pathlib
import re
import shutil
import sys

from installed import files_with, moved_package, run

SOURCE, BINARY = (pathlib.Path(argument) for argument in sys.argv[1:3])
TEXTS = {".c", ".cmake", ".cpp", ".h", ".json", ".md", ".py"}


def require_no_paths(place, folder):
    with_debug_information = re.search(r"(^|\s)(-g\d?|--coverage)(\s|$)", os.environ.get("CFLAGS", ""))
    found = [file for file in files_with(folder, [SOURCE, BINARY, place / "installed"])
             if not with_debug_information or file.suffix in TEXTS]
    if found:
        sys.exit("these files name paths that their users do not have:\n" + "\n".join(map(str, found)))


def require_pieces(package):
    """What a user expects, besides what the examples use."""
    for piece in ("share/t3vp/LICENSE", "share/t3vp/docs/guides/package.md", "share/t3vp/models/registers/README.md", "share/t3vp/configs/memory/hbm2-legacy.json",
                  "share/t3vp/examples/README.md"):
        if not (package / piece).is_file():
            sys.exit(f"the package has no {piece}")


def commands(readme):
    """Those of the page, one a line."""
    return [line.strip() for line in readme.read_text(encoding="utf-8").splitlines() if line.startswith("    ")]


def follow(place, with_cores):
    """Does what the page of the examples says, in the folder of the package."""
    package = place / "package"
    lines = commands(package / "share/t3vp/examples/README.md")
    if len(lines) != 10:
        sys.exit(f"the page of the examples has {len(lines)} commands, 10 expected")
    for line in lines:
        if with_cores or "riscv-program" not in line:
            run("bash", "-euc", re.sub(r"\bPREFIX\b", str(package), line), cwd=place)


def build_with_toolchain(package, project):
    """The cross compiler as the project's compiler."""
    project.mkdir()
    shutil.copy(package / "share/t3vp/examples/riscv-program/first.c", project)
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(cross LANGUAGES C)\n"
        "find_package(t3vp REQUIRED COMPONENTS riscv)\n"
        "add_executable(first first.c)\ntarget_link_libraries(first PRIVATE t3vp::riscv_firmware)\n", encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if name not in ("CFLAGS", "CXXFLAGS")}
    run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={package}",
        f"-DCMAKE_TOOLCHAIN_FILE={package}/lib/cmake/t3vp/t3vp-riscv-toolchain.cmake", env=clean)
    run("cmake", "--build", project / "build", env=clean)
    run(package / "bin/t3vp", "run", package / "share/t3vp/examples/riscv-program/run.json", "--set",
        f"program={project}/build/first.elf", "--out", project / "out")


def build_without_cmake(package, project):
    """The cross compiler by hand, as docs/guides/package.md calls it."""
    riscv = package / "lib/t3vp/riscv"
    run("riscv64-unknown-elf-gcc", f"@{riscv}/t3-riscv.options", f"-I{package}/include", project / "first.c", f"-L{riscv}",
        f"-T{riscv}/t3.ld", "-lt3_riscv", "-o", project / "first.elf")


def main():
    with moved_package(BINARY) as place:
        package = place / "package"
        require_no_paths(place, package)
        require_pieces(package)
        with_cores = (package / "lib/t3vp/riscv/libt3_riscv.a").exists() and shutil.which("riscv64-unknown-elf-gcc")
        follow(place, with_cores)
        require_no_paths(place, place / "build")
        if with_cores:
            build_with_toolchain(package, place / "cross")
            build_without_cmake(package, place / "cross")


main()
