"""The few forms of Markdown that the pages are made of."""

import re
from collections.abc import Iterable, Sequence

_NOTE = "<!-- Made by `python -m docs.generate` from the code; what is changed here is overwritten. -->"


def page(title: str, *blocks: str) -> str:
    """A page from its title and its blocks, with blank lines between them; empty blocks are left out."""
    return "\n\n".join([_NOTE, f"# {title}", *(block for block in blocks if block)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, or nothing without rows. Cells are one line of Markdown; their pipes are escaped."""
    lines = [_row(cells) for cells in rows]
    return "\n".join([_row(head), "|" + "---|" * len(head), *lines]) if lines else ""


def code(text: str) -> str:
    """A piece of code within a line."""
    fence = "`" * (max((len(ticks) for ticks in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def prose(text: str) -> str:
    """A docstring as Markdown: its indentation gone, its paragraphs kept, each on one line."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def value_form(words: str) -> str:
    """What may stand at a key, as `located_config.words` has it: words and keys that are written so become code."""
    return re.sub(r'"([^"]*)"|({[^}]*})', lambda found: code(found[1] or found[2]), words)


def in_a_cell(text: str) -> str:
    """A text of several paragraphs as one line."""
    return " ".join(text.split())


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
