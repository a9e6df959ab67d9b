"""All pages that show results are of one state of the project: their stamps have the same hashes. A tutorial shows what its
commands print now, so it may be newer than the others; its own results are of one state.

  stamps_test.py SOURCE_DIRECTORY
"""

import pathlib
import sys

SOURCE = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(SOURCE / "tools"))
from validation import pages, stamps  # noqa: E402


def mistakes(texts):
    """What is wrong with the stamps of pages, from their texts by name."""
    found = []
    first = None
    for name, text in texts.items():
        line = stamps.line_on(text)
        known = stamps.stamps_on(text, pages.shown_in(text))
        missing = [one for one in pages.shown_in(text) if one not in known]
        if missing:
            found.append(f"{name}: no stamp says of which state these results are: {', '.join(missing)}")
        if line.startswith(stamps.MIXED) or not missing and not stamps.all_alike(known.values()):
            found.append(f"{name}: results of several states: {line}")
        elif not missing and not name.startswith("docs/tutorials/"):
            stamp = next(iter(known.values()))
            first = first or (name, stamp)
            if not stamp.is_like(first[1]):
                found.append(f"{name}: {stamp.text()}, but {first[0]}: {first[1].text()}")
    return found


def with_stamp(text, line):
    return stamps.BLOCK.sub(lambda _: f"<!-- stamp -->\n{line}\n<!-- end -->", text)


def prove(texts):
    """Doctored copies of the pages have mistakes, and copies of one state have none."""
    state = stamps.Stamp("01234567", "0123456789ab", "ba9876543210")
    line = stamps.line_of({"any": state})
    good = {name: with_stamp(text, line) for name, text in texts.items()}
    last = [name for name in good if not name.startswith("docs/tutorials/")][-1]
    older = with_stamp(good[last], line.replace("0123456789ab", "0123456789ac"))
    assert mistakes(good) == [], mistakes(good)
    for doctored in (older, with_stamp(good[last], line.replace("ba9876543210", "ba9876543211")), with_stamp(good[last], "None.")):
        assert len(mistakes({**good, last: doctored})) == 1, doctored


def main():
    texts = {str(page.relative_to(SOURCE)): page.read_text(encoding="utf-8") for page in pages.PAGES}
    prove(texts)
    if found := mistakes(texts):
        sys.exit("\n".join(found))


main()
