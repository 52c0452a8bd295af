"""Links, categories and pictures."""

import re
from collections.abc import Callable
from typing import Final

from mockapi.wiki.namespaces import CATEGORY, FILE
from mockapi.wiki.parsoid.cite import compact
from mockapi.wiki.parsoid.nodes import Element, Node
from mockapi.wiki.parsoid.rendered_page import Page, href_of
from mockapi.wiki.title import Title

Inline = Callable[[str], list[Node]]

_FOLLOWED: Final = "mediawiki.org"
_HOST: Final = re.compile(r"(?:[a-z]+:)?//([^/?#:]+)", re.IGNORECASE)
_WIDTH: Final = re.compile(r"([0-9]+)(?:x[0-9]+)?px")
_NO_FILE: Final = [{"key": "apierror-filedoesnotexist", "message": "This image does not exist."}]
_SIDES: Final = ("left", "right", "center", "none")


def wiki_link(page: Page, target: str, label: str | None, tail: str, inline: Inline) -> Element | None:
    """`[[target|label]]tail`; None for a target that no page could have."""
    if target.lstrip().startswith("#"):
        return _own_section(page, target.strip(), label, tail, inline)
    title = page.parse(target)
    if title is None or label == "":
        return None
    if not target.lstrip().startswith(":"):
        if title.namespace_id == CATEGORY:
            key = f"#{label}" if label is not None else ""
            return Element("link", [("rel", "mw:PageProp/Category"), ("href", href_of(title) + key)])
        if title.namespace_id == FILE:
            return _picture(title, label.split("|") if label is not None else [], inline)
    shown: list[Node] = [target.lstrip().removeprefix(":") if ":" in target[:2] else target]
    if label is not None:
        shown = _without_links(inline(label))
    return _link(page, title, _fragment(target), [*shown, *([tail] if tail else [])])


def link_to(page: Page, title: Title) -> Element:
    """A link to a page that shows its title."""
    return _link(page, title, "", [title.text])


def external_link(address: str, shown: list[Node] | None, kind: str) -> Element:
    """A link out of the wiki; `kind` is text, autonumber or free."""
    host = _HOST.match(address)
    followed = host is not None and f".{host[1].lower()}".endswith(f".{_FOLLOWED}")
    rel = "mw:ExtLink" if followed else "mw:ExtLink nofollow"
    return Element("a", [("rel", rel), ("href", address), ("class", f"external {kind}")], shown or [])


def _link(page: Page, title: Title, fragment: str, shown: list[Node]) -> Element:
    href = href_of(title)
    if title == page.title:
        kind = "mw-selflink-fragment" if fragment else "mw-selflink selflink"
        return Element("a", [("rel", "mw:WikiLink"), ("href", href + fragment), ("class", kind)], shown)
    if page.known(title):
        return Element("a", [("rel", "mw:WikiLink"), ("href", href + fragment), ("title", title.text)], shown)
    words = {"title": {"lang": "x-page", "key": "red-link-title", "params": [title.text]}}
    return Element(
        "a",
        [
            ("rel", "mw:WikiLink"),
            ("href", f"{href}?action=edit&redlink=1{fragment}"),
            ("title", title.text),
            ("class", "new"),
            ("typeof", "mw:LocalizedAttrs"),
            ("data-mw-i18n", compact(words)),
        ],
        shown,
    )


def _without_links(nodes: list[Node]) -> list[Node]:
    """A link holds no other: of those inside only the text is left."""
    plain: list[Node] = []
    for node in nodes:
        if isinstance(node, Element) and node.tag == "a":
            plain += node.children
        else:
            plain.append(node)
    return plain


def _own_section(page: Page, target: str, label: str | None, tail: str, inline: Inline) -> Element:
    shown = inline(label) if label else [target]
    attributes = [("rel", "mw:WikiLink"), ("href", page.href + _fragment(target)), ("class", "mw-selflink-fragment")]
    return Element("a", attributes, [*shown, *([tail] if tail else [])])


def _fragment(target: str) -> str:
    _, hash_mark, fragment = target.partition("#")
    return hash_mark + fragment.strip().replace(" ", "_") if fragment else ""


def _picture(title: Title, options: list[str], inline: Inline) -> Element:
    """A picture, which is missing: the mock has no files."""
    frame, side, width, alt, caption = "", "", "", None, None
    for option in options:
        words = option.strip()
        if words in {"thumb", "thumbnail"}:
            frame = "/Thumb"
        elif words in {"frame", "framed", "enframed"}:
            frame = "/Frame"
        elif words == "frameless":
            frame = "/Frameless"
        elif words in _SIDES:
            side = words
        elif measured := _WIDTH.fullmatch(words):
            width = measured[1]
        elif words.startswith("alt="):
            alt = words.removeprefix("alt=")
        elif not words.startswith(("link=", "class=", "lang=", "page=", "upright")):
            caption = option
    block = frame in {"/Thumb", "/Frame"} or side not in {"", "none"}
    classes = [f"mw-halign-{side}"] if side else []
    if not width:
        classes.insert(0, "mw-default-size")
        width = "300" if frame == "/Thumb" else ""
    attributes = {"attribs": [["alt", {"txt": alt}]]} if alt is not None else {}
    media = Element(
        "span",
        [
            ("class", "mw-file-element mw-broken-media"),
            ("resource", href_of(title)),
            *([("data-width", width)] if width else []),
        ],
        [title.text if alt is None else alt],
    )
    children: list[Node] = [Element("a", [("href", f"./Special:FilePath/{href_of(title).partition(':')[2]}")], [media])]
    if block:
        children.append(Element("figcaption", [], inline(caption) if caption is not None else []))
    return Element(
        "figure" if block else "span",
        [
            ("class", " ".join(classes)),
            ("typeof", f"mw:Error mw:File{frame}"),
            ("data-mw", compact({**attributes, "errors": _NO_FILE})),
        ],
        children,
    )
