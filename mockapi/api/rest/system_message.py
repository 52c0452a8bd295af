"""A system message as a page: what `MediaWiki:…` shows until that page is written."""

import hashlib
import html
from dataclasses import dataclass
from typing import Self

from mockapi.api.rest.metadata import Members, message_members
from mockapi.api.rest.path import Form
from mockapi.wiki.messages import system_message
from mockapi.wiki.title import Title
from mockapi.wiki.wiki import Wiki


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """A message with its title; `html` is a whole document, without anything of Parsoid's."""

    title: Title
    html: str

    @classmethod
    def of(cls, wiki: Wiki, title: Title) -> Self | None:
        """The message of that title, None when there is none. Who asks has seen that there is no page."""
        text = system_message(title)
        if text is None:
            return None
        words = html.escape(text.replace("{{SITENAME}}", wiki.sitename), quote=False)
        head = '<head><meta http-equiv="content-language" content="en"/></head>'
        return cls(title, f"<!DOCTYPE html>\n<html>{head}<body>{words}</body></html>")

    def etag(self, form: Form) -> str:
        """Of the text and the form, with its quotes; a message has no revision."""
        return f'"message/{hashlib.sha1(self.html.encode(), usedforsecurity=False).hexdigest()}/{form}"'

    @property
    def members(self) -> Members:
        """For the form `with_html`."""
        return {**message_members(self.title), "html": self.html}
