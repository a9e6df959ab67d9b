"""The parts of docs/validation/laws.md that follow from the code and from accepted_exceptions.json. Run it to print them."""
import textwrap

import exceptions
from laws import LAWS


def parts():
    """Texts that the page has as they are: the table of laws, their reasons, and the exceptions of each status."""
    table = "\n".join(f"| `{law.name}` | {law.says} | {share(law.tolerance)} |" for law in LAWS)
    reasons = "\n".join(paragraph(f"- `{law.name}`: {law.why}", "  ") for law in LAWS)
    return (table, reasons, *map(exceptions_of, exceptions.STATUS))


def exceptions_of(status):
    return "\n\n".join(
        f"**`{entry['name']}`** accepts {' and '.join(f'`{law}`' for law in entry['laws'])} up to {share(entry['at_most'])} where\n\n"
        f"{where(entry['where'])}\n\n{paragraph(entry['cause'], '')}"
        for entry in exceptions.read() if entry["status"] == status)


def paragraph(text, indent):
    return textwrap.fill(text, 118, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def share(number):
    return f"{number * 100:g}%" if number else "0"


def where(predicate):
    return "\n".join(f"- {key} is {' or '.join(map(str, value)) if isinstance(value, list) else value}"
                     for key, value in predicate.items())


if __name__ == "__main__":
    print(*parts(), sep="\n\n")
