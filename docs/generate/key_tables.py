"""Sections of keys as Markdown: a heading, what the section is, and a table."""

from collections.abc import Iterable

from docs.generate.keys import Key, Section, anchor
from docs.generate.markdown import code, in_a_cell, prose, table


def key_sections(found: Iterable[Section], *, top: str, with_examples: bool) -> str:
    """All sections; `top` is the heading of the first."""
    return "\n\n".join(_section(one, top, with_examples=with_examples) for one in found)


def key_table(keys: Iterable[Key], *, with_examples: bool) -> str:
    """A table of keys; a default that is empty says that the key may be left out."""
    head = ["key", "what it says", "value", "default", *(["example"] if with_examples else [])]
    return table(head, [_row(key, with_examples=with_examples) for key in keys])


def _section(section: Section, top: str, *, with_examples: bool) -> str:
    name = ", ".join(section.paths) or top
    text = "" if section.paths == ("",) else prose(section.description)
    blocks = [f"## {name} {{#{anchor(section.paths[0])}}}", text, key_table(section.keys, with_examples=with_examples)]
    return "\n\n".join(block for block in blocks if block)


def _row(key: Key, *, with_examples: bool) -> list[str]:
    default = "**required**" if key.default is None else code(key.default) if key.default else "—"
    example = [code(key.example) if key.example else ""] if with_examples else []
    return [code(key.name), in_a_cell(key.description), key.form, default, *example]
