"""The nodes of what was stashed: templates, extensions and comments."""

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from mockapi.wiki.parsoid.cite import compact
from mockapi.wiki.parsoid.links import link_to
from mockapi.wiki.parsoid.nodes import Comment, Element, Node
from mockapi.wiki.parsoid.rendered_page import Page, href_of
from mockapi.wiki.parsoid.stash import Commented, Extension, Stashed, StashedBlock, Template
from mockapi.wiki.title import Title

_ATTRIBUTE: Final = re.compile(r"""([A-Za-z][\w:-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+)))?""")
_ALLOWED: Final = frozenset(
    re.findall(
        r"[a-z]+",
        "about align border cite class color colspan datatype datetime dir face height id itemid itemprop itemref "
        "itemscope itemtype lang property rel resource role rowspan size span start style title type typeof valign "
        "value width",
    )
)


def attributes_of(written: str) -> list[tuple[str, str]]:
    """The attributes that a page may set, in their order; the last of several of a name counts."""
    given = {name: value for name, value in raw_attributes(written).items() if _may_set(name)}
    return list(given.items())


def raw_attributes(written: str) -> dict[str, str]:
    """All attributes, by lower-case name."""
    return {
        match[1].lower(): html.unescape(match[2] or match[3] or match[4] or "")
        for match in _ATTRIBUTE.finditer(written)
    }


def _may_set(name: str) -> bool:
    if name.startswith(("data-mw", "data-parsoid")):
        return False
    return name in _ALLOWED or name.startswith(("aria-", "data-"))


BLOCK_TAGS: Final = frozenset({"blockquote", "center", "div", "figure", "pre"})

_VARIABLES: Final[dict[str, Callable[[Title], str]]] = {
    "!": lambda _: "|",
    "FULLPAGENAME": lambda title: title.text,
    "NAMESPACE": lambda title: title.namespace_name,
    "PAGENAME": lambda title: title.key.replace("_", " "),
}


@dataclass
class Abouts:
    """The names of a block's groups: Parsoid numbers its templates before its extensions."""

    templates: list[str]
    extensions: list[str]

    @classmethod
    def of(cls, page: Page, things: Sequence[Stashed]) -> "Abouts":
        """New names for what stands in one block, in its order."""
        extensions = sum(isinstance(thing, Extension) and thing.name in {"ref", "pre"} for thing in things)
        page.abouts += extensions
        templates = [page.about() for thing in things if isinstance(thing, Template)]
        return cls(templates, [page.about() for _ in range(extensions)])


def node_of(page: Page, thing: Stashed, abouts: Abouts, inline: Callable[[str], list[Node]]) -> Node:
    """The node that a mark stands for; `inline` reads a text that was stashed from already."""
    match thing:
        case Commented(text):
            return Comment(text)
        case Template(source):
            return _template(page, source, abouts.templates.pop(0))
        case StashedBlock(tag, attributes, body):
            return Element(tag, attributes_of(attributes), page.block(page, tag, body))
        case Extension("ref", attributes, body):
            return _reference(page, attributes, body, abouts.extensions.pop(0), inline)
        case Extension("references", attributes, body):
            given = raw_attributes(attributes)
            _define(page, body or "", given.get("group", ""), inline)
            page.abouts += 1
            return page.citations.take_list(
                given.get("group", ""), about=page.about(), href=page.href, attributes=given, automatic=False
            )
        case Extension("pre", attributes, body):
            data = {"name": "pre", "attrs": raw_attributes(attributes), "body": {"extsrc": body or ""}}
            about = abouts.extensions.pop(0)
            return Element(
                "pre",
                [
                    *attributes_of(attributes),
                    ("typeof", "mw:Extension/pre"),
                    ("about", about),
                    ("data-mw", compact(data)),
                ],
                [body or ""],
            )
        case Extension(_, _, body):
            return Element("span", [("typeof", "mw:Nowiki")], [body] if body else [])


def _reference(
    page: Page, attributes: str, body: str | None, about: str, inline: Callable[[str], list[Node]]
) -> Element:
    given = raw_attributes(attributes)
    content = None if body is None else inline(page.stash.take_out(body.strip(), blocks=False))
    return page.citations.mark(
        given.get("name") or None, given.get("group", ""), content, about=about, href=page.href, attributes=given
    )


def _define(page: Page, body: str, group: str, inline: Callable[[str], list[Node]]) -> None:
    """Reads the references that stand inside their list."""
    for thing in page.stash.marks(page.stash.take_out(body)):
        if isinstance(thing, Extension) and thing.name == "ref" and thing.body is not None:
            given = raw_attributes(thing.attributes)
            if name := given.get("name"):
                content = inline(page.stash.take_out(thing.body.strip(), blocks=False))
                page.citations.define(name, given.get("group", group), content)


def _template(page: Page, source: str, about: str) -> Node:
    """A template as on a wiki that does not have it: a link to where it would be. A few variables have their value."""
    name, *arguments = _split(source)
    variable = _VARIABLES.get(name.strip())
    if variable is not None and page.title is not None:
        data = _data({"wt": name, "function": name.strip().lower()}, {})
        group = [("about", about), ("typeof", "mw:Transclusion"), ("data-mw", data)]
        value = variable(page.title)
        return Element("span", group, [value] if value else [])
    title = page.parse(name if ":" in name else f"Template:{name}")
    if title is None:
        return f"{{{{{source}}}}}"
    data = _data({"wt": name, "href": href_of(title)}, _parameters(arguments))
    link = link_to(page, title)
    kind = "mw:Transclusion mw:LocalizedAttrs" if link.get("data-mw-i18n") else "mw:Transclusion"
    shown = dict(link.attributes)
    return Element(
        "a",
        [
            *((key, shown[key]) for key in ("rel", "href", "title") if key in shown),
            ("about", about),
            ("typeof", kind),
            *((key, shown[key]) for key in ("class",) if key in shown),
            ("data-mw", data),
            *((key, shown[key]) for key in ("data-mw-i18n",) if key in shown),
        ],
        link.children,
    )


def _data(target: dict[str, str], parameters: dict[str, dict[str, str]]) -> str:
    return compact({"parts": [{"template": {"target": target, "params": parameters, "i": 0}}]})


def _parameters(arguments: Sequence[str]) -> dict[str, dict[str, str]]:
    parameters: dict[str, dict[str, str]] = {}
    place = 0
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if equals and not {"[", "{"} & set(name):
            parameters[name.strip()] = {"wt": value.strip()}
        else:
            place += 1
            parameters[str(place)] = {"wt": argument}
    return parameters


def _split(source: str) -> list[str]:
    """The parts between pipes, without those in links and templates inside."""
    parts = [""]
    depth = 0
    for letter in source:
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(letter, 0)
        if letter == "|" and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
