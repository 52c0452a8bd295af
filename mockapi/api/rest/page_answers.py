"""The answers of the page route: HTML, source, metadata, and a system message where no page is.

For HTML the spelling of the title is checked before the page is looked up, for the others after.
"""

import hashlib
import html
from dataclasses import dataclass
from functools import partial
from typing import Self

from mockapi.api.endpoint import Context
from mockapi.api.rest import html_render
from mockapi.api.rest.envelope import JSON_TYPE, coding_of, compatible, json_text, kept_json, sealed
from mockapi.api.rest.errors import (
    denied_revision,
    denied_title,
    invalid_title,
    nonexistent_title,
    unavailable_revision,
)
from mockapi.api.rest.html_render import CACHE_CONTROL, Render, source_etag, source_validators
from mockapi.api.rest.metadata import Members, compatible_members, message_members, page_members
from mockapi.api.rest.path import Form, Module, page_path
from mockapi.api.rest.preconditions import Validators, bare_reply, conditional, decide
from mockapi.api.rest.redirects import LOCATION_CACHE, Places, redirect_reply, target_of, written_target
from mockapi.api.rest.visibility import Visible
from mockapi.server.reply import Headers, Reply
from mockapi.server.request import Request
from mockapi.wiki.facts import facts
from mockapi.wiki.pages.flavor import Flavor
from mockapi.wiki.title import Title
from mockapi.wiki.wiki import Wiki, system_message


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


@dataclass(frozen=True, slots=True)
class PageAsked:
    """A page in one form. `text` is the title as written, `title` what it means; None: no page can have it."""

    request: Request
    module: Module
    form: Form
    text: str
    wiki: Wiki
    title: Title | None

    @property
    def places(self) -> Places:
        """For redirects: where another title is found in the same form and with the same query."""
        return Places(self.module, self.form, self.request.query)

    @property
    def about(self) -> tuple[str, ...]:
        """What an answer depends on besides the page."""
        return "page", self.module, self.form, self.request.query


async def rendered(asked: PageAsked, context: Context, seen: Visible | None, flavor: Flavor, *, follow: bool) -> Reply:
    """The page as HTML, or the way to it; `follow` says whether redirects of the wiki are. Raises RestError."""
    message = SystemMessage.of(asked.wiki, asked.title) if seen is None and asked.title is not None else None
    if message is not None:
        return _message(asked, context, message)
    render = None
    if seen is not None:
        if flavor == "fragment":
            raise unavailable_revision()
        if "text" in seen.hidden:
            raise denied_revision(seen.located.revision.rev_id)
        render = Render(context.world.seed, seen, asked.form, flavor, context.request.language)
    return await _page(asked, context, render, follow=follow)


async def _page(asked: PageAsked, context: Context, render: Render | None, *, follow: bool) -> Reply:
    request, wiki = context.request, asked.wiki
    validators = Validators(None, None, exists=False)
    if render is not None:
        validators = Validators(render.etag, render.rendered_at, exists=True)
    if conditional(request) and (status := decide(request, validators)):
        return bare_reply(status, context.request_id)
    if asked.title is None:
        raise denied_title(asked.text)
    known = () if render is None else render.validators
    if asked.text != asked.title.dbkey:
        return redirect_reply(301, asked.places.of(asked.title), (LOCATION_CACHE, *known), context)
    if render is None:
        raise nonexistent_title(asked.text)
    target = target_of(wiki, render.seen)
    if target is not None and follow:
        return redirect_reply(307, asked.places.of(target), (LOCATION_CACHE, *known), context)
    if asked.form == "html":
        own = html_render.html_of_page(render, wiki.language, render.cache_control)
        return await html_render.html_reply(context, render, own)
    own = html_render.with_html_of_page(render, render.cache_control)
    seen, after = render.seen, asked.places.members(target)

    def members(html: str) -> Members:
        return {**page_members(wiki, seen), "html": html, **after}

    return await html_render.with_html_reply(context, render, own, asked.about, members)


def _message(asked: PageAsked, context: Context, message: SystemMessage) -> Reply:
    """The system message that stands where no page is."""
    request = context.request
    etag = message.etag(asked.form)
    if conditional(request) and (status := decide(request, Validators(etag, None, exists=True))):
        return bare_reply(status, context.request_id)
    tag: Headers = ((b"etag", etag.encode()),)
    if asked.text != message.title.dbkey:
        return redirect_reply(301, asked.places.of(message.title), (LOCATION_CACHE, *tag), context)
    coding, request_id = coding_of(context), context.request_id
    if asked.form == "html":
        own = (CACHE_CONTROL, *tag)
        return sealed(200, own, message.html.encode(), request_id, coding=coding, php_type=True)
    return sealed(200, (JSON_TYPE, CACHE_CONTROL, *tag), json_text(message.members), request_id, coding=coding)


async def described(asked: PageAsked, context: Context, seen: Visible | None) -> Reply:
    """The page's source or metadata, or the way to it. Raises RestError."""
    request, wiki = context.request, asked.wiki
    message = seen is None and asked.title is not None and SystemMessage.of(wiki, asked.title) is not None
    etag = source_etag(seen.located.revision.rev_id if seen else None, readable=asked.title is not None)
    changed = seen.located.revision.timestamp if seen else None
    validators = Validators(etag, changed, exists=seen is not None or message)
    if conditional(request) and (status := decide(request, validators)):
        return bare_reply(status, context.request_id)
    if asked.title is None:
        raise invalid_title(asked.text)
    if seen is None:
        raise nonexistent_title(asked.text)
    known = source_validators(etag, changed)
    if asked.text != asked.title.dbkey:
        return redirect_reply(301, asked.places.of(asked.title), known, context)
    if asked.form == "source" and "text" in seen.hidden and not compatible(request):
        # Here, and only here, MediaWiki writes the id as a number is written: 28,674.
        raise denied_revision(f"{seen.located.revision.rev_id:,}")
    about = (asked.about, compatible(request))
    members = partial(_described_members, asked, context, asked.title, seen)
    return await kept_json(context, (JSON_TYPE, CACHE_CONTROL, *known), seen, about, members)


def _described_members(asked: PageAsked, context: Context, title: Title, seen: Visible) -> Members:
    wiki, seed = asked.wiki, context.world.seed
    if compatible(context.request):
        members = compatible_members(wiki, seed, seen, redirect=written_target(seen.located) is not None)
    elif asked.form == "bare":
        members = page_members(wiki, seen)
        members["html_url"] = wiki.server + page_path(asked.module, title.text, "html")
    else:
        members = page_members(wiki, seen)
        members["source"] = facts(seed, seen.located).text
    return members | asked.places.members(target_of(wiki, seen))
