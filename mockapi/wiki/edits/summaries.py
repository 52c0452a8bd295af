"""What MediaWiki says about a change when the person who makes it says nothing."""

import re
from typing import Final

from mockapi.wiki.facts import Facts
from mockapi.wiki.redirect import redirect_target
from mockapi.wiki.title import parse_title
from mockapi.wiki.wiki import Wiki

MAX_CHARACTERS: Final = 500

_UNFINISHED_LINK: Final = re.compile(r"\[\[([^\]]*)\]?$")
_LINK: Final = re.compile(r"\[\[:?(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")
_CONTENT_WAS: Final = 'content was: "{}"'
_ONLY_AUTHOR: Final = ', and the only contributor was "[[Special:Contributions/{0}|{0}]]" ([[User talk:{0}|talk]])'


def shorten(given: str) -> str:
    """A summary as it is kept: at most 500 characters."""
    text = given.strip()
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 3].rstrip() + "..."


def section_summary(heading: str) -> str:
    """For a new section."""
    words = _LINK.sub(r"\1", heading)
    return f"/* {words} */ new section" if words else ""


def edit_summary(wiki: Wiki, model: str, before: Facts | None, text: str) -> str:
    """For an edit that sends `text`; `before` is None for a new page. Empty for most edits."""
    if before is not None and before.size > 0 and not text:
        return "Blanked the page"
    new = _target(wiki, redirect_target(text, model))
    old = _target(wiki, before.redirect_target if before else None)
    if new is not None and old is None:
        return f"Redirected page to [[{new}]]"
    if new is not None and new != old:
        return f"Changed redirect target from [[{old}]] to [[{new}]]"
    if new is None and old is not None:
        return f"Removed redirect to [[{old}]]"
    if before is None:
        return _about('Created page with "{}"', text, model) if text else "Created blank page"
    if before.size > 10 * len(text.encode()):
        return _about('Replaced content with "{}"', text, model)
    return ""


def deletion_summary(latest: Facts, authors: set[str]) -> str:
    """For the deletion of a page; `authors` are all who edited it."""
    who = _ONLY_AUTHOR.format(*authors) if len(authors) == 1 else ""
    return _about(_CONTENT_WAS + who, latest.text, latest.located.page.content_model)


def move_summary(by: str, source: str, target: str, reason: str, *, over_redirect: bool, redirect: bool) -> str:
    """For both revisions that a move makes."""
    over = (" over a redirect" if not redirect else " over redirect") if over_redirect else ""
    without = "" if redirect else " without leaving a redirect"
    because = f": {reason}" if reason else ""
    return shorten(f"{by} moved page [[{source}]] to [[{target}]]{over}{without}{because}")


def _about(message: str, text: str, model: str) -> str:
    """`message` with as much of `text` as there is room for; lengths are those of UTF-8, as MediaWiki counts here."""
    room = MAX_CHARACTERS - len(message.encode())
    line = re.sub(r"[\n\r]", " ", text)
    if len(line.encode()) > room:
        line = line.encode()[: max(room - 3, 0)].decode(errors="ignore").rstrip() + "..."
    if model == "wikitext":
        line = _UNFINISHED_LINK.sub(r"\1", line)
    return message.replace("{}", line)


def _target(wiki: Wiki, written: str | None) -> str | None:
    if written is None:
        return None
    _, hash_mark, fragment = written.partition("#")
    return parse_title(written, wiki.namespaces).text + hash_mark + fragment
