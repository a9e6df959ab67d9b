"""The pages that show results, and the blocks in them that --collect fills.

<!-- results NAME -->           the table of an experiment's quantities
<!-- comparison NAME -->        its targets
<!-- spreads NAME -->           how far its replicates are apart
<!-- pictures NAME -->          its pictures
<!-- targets -->                the targets of all experiments of the page but sensitivities
<!-- summary NAME... -->        the targets of these, with causes
<!-- first-result -->           README's picture
<!-- h200 WHAT -->              times measured on H200 beside simulated ones: a row per file (`files`) or per time (`times`)
<!-- stamp -->                  which state of the project all of these are of

Each block ends with <!-- end -->.
"""
import re
import sys

from validation import first_result, measured, stamps, tables, targets
from validation.stamps import ROOT

PAGES = [ROOT / name for name in (
    "README.md", "docs/validation/summary.md", "docs/validation/t3.md", "docs/validation/sensitivities.md",
    "docs/validation/gpu-initiated.md", "docs/models/policies.md", "docs/models/gemv-and-experts.md", "docs/validation/collective-times.md", "docs/tutorials/what-if.md")]
IMAGES = ROOT / "docs" / "images"
BLOCK = re.compile(r"<!-- (results|comparison|spreads|targets|pictures|summary|first-result|h200)((?: \S+)*) -->\n.*?<!-- end -->", re.DOTALL)


def names_in(kind, words):
    return [kind] if kind in (first_result.NAME, measured.NAME) else words.split()


def shown_in(text):
    return list(dict.fromkeys(name for kind, words in BLOCK.findall(text) for name in names_in(kind, words)))


def shown():
    return list(dict.fromkeys(name for page in PAGES for name in shown_in(page.read_text())))


def with_spreads():
    return {words.strip() for page in PAGES for kind, words in BLOCK.findall(page.read_text()) if kind == "spreads"}


def is_there(folder):
    return (folder / "stamp.json").exists()


def content_of(kind, words, match, of_page, taken, out):
    """What a block becomes; none where its results are not there."""
    if kind in ("targets", "summary"):
        columns = targets.TARGETS if kind == "targets" else targets.SUMMARY
        names = words.split() or [name for name in of_page if not name.startswith("sensitivity-")]
        return targets.target_table(columns, names, taken, out, match.group(0))
    if names_in(kind, words)[0] not in taken:
        return None
    if kind == first_result.NAME:
        return first_result.block(out)
    if kind == measured.NAME:
        return measured.block(words.strip(), out)
    folder = out / words.strip()
    if kind == "pictures":
        return tables.pictures(folder, IMAGES)
    return {"results": tables.results, "comparison": tables.comparison, "spreads": tables.spreads}[kind](folder)


def mistake_in(page, taken, merged, mixed):
    """Why the page cannot be of these stamps, in one line."""
    for name in taken:
        if taken[name][1] != stamps.digest_of_experiment(name):
            return f"{page}: {name} itself has changed since its results were made: run tools/validate {name}"
    if mixed or stamps.all_alike(merged.values()):
        return ""
    newest, *older = stamps.by_state(merged)
    told = "; ".join(f"{stamp.text()}: {', '.join(names)}" for stamp, names in older)
    return f"{page}: results of unlike stamps; newest {newest[0].text()}: {', '.join(newest[1])}; older {told}; run these again, or give --mixed"


def collect(page, out, mixed):
    """Fills the page's blocks whose results are there. Returns why not, if so."""
    text = page.read_text()
    of_page = shown_in(text)
    taken = {name: (stamps.stamp_in(out / name), stamps.read(out / name)["experiment"])
             for name in of_page if is_there(out / name)}
    if not taken:
        return ""
    on_page = stamps.stamps_on(text, of_page)
    merged = {name: taken[name][0] if name in taken else on_page.get(name, stamps.Stamp("unknown")) for name in of_page}
    if mistake := mistake_in(page.relative_to(ROOT), taken, merged, mixed):
        return mistake

    def block(match):
        kind, words = match.groups()
        content = content_of(kind, words, match, of_page, taken, out)
        return match.group(0) if content is None else f"<!-- {kind}{words} -->\n{content}\n<!-- end -->"

    text = BLOCK.sub(block, text)
    page.write_text(stamps.BLOCK.sub(lambda _: f"<!-- stamp -->\n{stamps.line_of(merged)}\n<!-- end -->", text))
    return ""


def collect_all(out, mixed):
    mistakes = [mistake for page in PAGES if (mistake := collect(page, out, mixed))]
    if mistakes:
        sys.exit("\n".join(mistakes))
