"""Tables and pictures of pages, from what an experiment has left in its folder."""
import re
import shutil

RANGE = re.compile(r"(\S+), (\S+\.\.\S+) \((\S+)%\)")  # a value of replicates, their range and spread


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def rows_of(text):
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines() if "|--" not in line]


def tables_in(text):
    """Each table with its lines."""
    return [found.rstrip() for found in re.findall(r"(^\|.*?\|\n)(?!\|)", text + "\n", re.DOTALL | re.MULTILINE)]


def tables(folder):
    """Those of result.md: quantities by case, then what is compared with the reference."""
    return tables_in((folder / "result.md").read_text())


def results(folder):
    return table([[RANGE.sub(r"\1", cell) for cell in row] for row in rows_of(tables(folder)[0])])


def comparison(folder):
    return tables(folder)[1]


def spreads(folder):
    """How far replicates are apart, for each quantity: in the geomean and in the case where it is most."""
    head, *cases = rows_of(tables(folder)[0])
    rows = []
    for column, quantity in enumerate(head):
        ranges = [(case[0], RANGE.fullmatch(case[column])) for case in cases if RANGE.fullmatch(case[column])]
        if not ranges:
            continue
        name, widest = max(ranges, key=lambda entry: float(entry[1][3]))
        whole = dict(ranges).get("geomean")
        rows.append([quantity, *(whole.group(1, 2) if whole else ("", "")), name, widest[1], widest[2], f"{widest[3]}%"])
    return table([["quantity", "geomean", "its range", "case that varies most", "value", "range", "spread"], *rows])


def pictures(folder, images):
    names = []
    for picture in map(folder.joinpath, sorted(re.findall(r"^!\[.*?\]\((.*?)\)$", (folder / "result.md").read_text(), re.MULTILINE))):
        name = f"{folder.name}-{picture.name}"
        shutil.copyfile(picture, images / name)
        names.append(f"![{folder.name}: {picture.stem}](../images/{name})")
    return "\n".join(names)
