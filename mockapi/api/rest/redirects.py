"""Where the page routes send a client: to the title as the wiki writes it (301), to a redirect's target (307).

The place has no host, and keeps route and query. MediaWiki 1.43 loses the module of `content/v1` in it, a fault that
was mended later; here it stays.
"""

import html
from dataclasses import dataclass
from typing import Final

from mockapi.api.endpoint import Context
from mockapi.api.rest.envelope import coding_of, sealed
from mockapi.api.rest.parameters import parse_query, query_text
from mockapi.api.rest.path import Form, Module, page_path
from mockapi.api.rest.visibility import Visible
from mockapi.server.reply import Headers, Reply
from mockapi.wiki.catalog import Located
from mockapi.wiki.redirect import redirect_target
from mockapi.wiki.title import InvalidTitle, Title
from mockapi.wiki.wiki import Wiki

LOCATION_CACHE: Final = (b"cache-control", b"max-age=60")
"""What the routes of the HTML say of a redirect."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where pages are for the request: under the same module, in the same form, with the same query."""

    module: Module
    form: Form
    query: str

    def of(self, title: Title) -> str:
        """The place of a page, from the root of the host."""
        return page_path(self.module, title.dbkey, self.form) + query_text(parse_query(self.query))

    def members(self, target: Title | None) -> dict[str, str]:
        """What the metadata of a page says of where it leads."""
        return {} if target is None else {"redirect_target": self.of(target)}


def redirect_reply(status: int, place: str, own: Headers, context: Context) -> Reply:
    """Sends the client to `place`; `own` follows the headers that do."""
    shown = html.escape(place)
    body = f'<!doctype html><title>Redirect</title><a href="{shown}">{shown}</a>'.encode()
    headers = ((b"content-type", b"text/html; charset=utf-8"), (b"location", place.encode("latin-1")), *own)
    return sealed(status, headers, body, context.request_id, coding=coding_of(context))


def target_of(wiki: Wiki, seen: Visible) -> Title | None:
    """Where a page leads; None for one that is no redirect, and for one that leads to itself."""
    written = written_target(seen.located)
    if written is None:
        return None
    try:
        target = wiki.title(written)
    except InvalidTitle:
        return None
    return None if target == wiki.title_of(seen.located.page) else target


def written_target(located: Located) -> str | None:
    """Where a revision leads, as its source has it; None for one that is no redirect."""
    text = located.revision.text
    # Generated pages are never redirects, so their source need not be made.
    return redirect_target(text) if text is not None and located.page.content_model == "wikitext" else None
