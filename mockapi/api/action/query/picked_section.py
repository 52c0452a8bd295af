"""Sections of a source: what `rvsection` picks."""

import re
from typing import Final

_HEADING: Final = re.compile(r"^(={1,6})[^\n]+?\1[ \t]*$", re.MULTILINE)


def section_of(text: str, number: str) -> str | None:
    """Section `number`, from its heading to the next one of its level or above; 0 is what precedes the first heading.
    None when there is no such section.
    """
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        return None
    headings = list(_HEADING.finditer(text))
    wanted = int(number)
    if wanted == 0:
        return text[: headings[0].start()].rstrip() if headings else text
    if wanted > len(headings):
        return None
    heading = headings[wanted - 1]
    level = len(heading[1])
    end = next((later.start() for later in headings[wanted:] if len(later[1]) <= level), len(text))
    return text[heading.start() : end].rstrip()


def with_section(text: str, number: str, replacement: str) -> str | None:
    """`text` with `replacement` in place of its section `number`; None when there is no such section."""
    section = section_of(text, number)
    if section is None:
        return None
    start = 0 if number == "0" else list(_HEADING.finditer(text))[int(number) - 1].start()
    before, after = text[:start], text[start + len(section) :].lstrip("\n")
    return f"{before}{replacement}\n\n{after}" if after else before + replacement
