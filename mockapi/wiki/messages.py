"""System messages: pages of the namespace `MediaWiki` that can be read although they were never written.

A few of the thousands that a wiki has, in English: what its own API tests ask for and what names its main page.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from mockapi.wiki.namespaces import SYSTEM_MESSAGE
from mockapi.wiki.title import Title

MAIN_PAGE: Final = "Main Page"

_ENGLISH: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Aboutsite": "About {{SITENAME}}",
        "Disclaimers": "Disclaimers",
        "Edit": "Edit",
        "Mainpage": MAIN_PAGE,
        "Mainpage-description": "Main page",
        "Newpage-desc": "Start a new page for a topic that has been requested.",
        "Privacy": "Privacy policy",
        "Recentchanges": "Recent changes",
        "Search": "Search",
    }
)


def system_message(title: Title) -> str | None:
    """What the wiki says under `title` when there is no page of that title; None when it is no message."""
    return _ENGLISH.get(title.key) if title.namespace_id == SYSTEM_MESSAGE else None
