"""Every link of a page leads to a file of the project, and behind # to a heading of it.

  links_test.py SOURCE_DIRECTORY
"""

import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1])
GENERATED = {"build", "out"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^    .*$|`[^`\n]*`", re.MULTILINE)


def pages():
    for folder in [SOURCE, *(entry for entry in SOURCE.iterdir() if entry.is_dir() and entry.name not in GENERATED)]:
        if not folder.name.startswith("."):
            yield from folder.glob("*.md") if folder == SOURCE else folder.rglob("*.md")


def text_of(page):
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def anchor(heading):
    """As GitHub makes it: lower case, without punctuation, a hyphen for each space."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip())
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors(page):
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)}


def wrong(page, link):
    path, _, heading = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists():
        return f"no such file: {link}"
    if heading and target.suffix == ".md" and heading not in anchors(target):
        return f"no such heading: {link}"
    return None


def main():
    found = []
    links = 0
    for page in pages():
        for link in LINK.findall(CODE.sub("", text_of(page))):
            if re.match(r"\w+:", link):
                continue
            links += 1
            if mistake := wrong(page, link):
                found.append(f"{page.relative_to(SOURCE)}: {mistake}")
    if links < 100:
        found.append(f"only {links} links are found in {SOURCE}")
    if found:
        sys.exit("\n".join(found))


main()
