"""Blocks of a page, and the files that it shows."""

import re

BLOCK = re.compile(r"(?:`([^`\s]+)`:\n\n?)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def files_of(page):
    """Texts by the file's name, which is above its blocks."""
    files = {}
    for name, language, text in BLOCK.findall(page):
        if name and language not in ("sh", "text"):
            files[name] = files.get(name, "") + text
    return files
