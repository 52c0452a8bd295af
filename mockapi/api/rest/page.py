"""`GET /v1/page/{title}`, `/bare`, `/html` and `/with_html`: a page as it is now.

    title ── no page can have it ──> 404, 403
          ── not as the wiki writes it ──> 301
          ── a redirect ──> 307 (html, with_html), `redirect_target` (source, bare)

The routes of the HTML look at the spelling before they look for the page, the others after.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from mockapi.api.endpoint import Context
from mockapi.api.rest.envelope import coding_of
from mockapi.api.rest.errors import RestError, denied_title, error_reply, method_reply, nonexistent_title
from mockapi.api.rest.no_match import NoMatch
from mockapi.api.rest.page_answers import PageAsked, described, rendered
from mockapi.api.rest.parameters import flavor_parameter, missing, parse_query, redirect_parameter
from mockapi.api.rest.path import READING, RENDERED, Form, segment
from mockapi.api.rest.planned_error import planned_exception
from mockapi.api.rest.preconditions import Validators, bare_reply, conditional, decide
from mockapi.api.rest.visibility import Visible, guarded, visible
from mockapi.api.rest.write import Draft, write
from mockapi.api.status import status_reply
from mockapi.plan import StatusAnswer
from mockapi.rules.matching import Target
from mockapi.server.reply import Reply
from mockapi.server.request import Request
from mockapi.wiki.catalog import Located
from mockapi.wiki.namespaces import FILE, MEDIA
from mockapi.wiki.title import InvalidTitle, Title
from mockapi.wiki.wiki import Wiki

if TYPE_CHECKING:
    from mockapi.world import World

METHODS_OF_SOURCE: Final = ("HEAD", "GET", "PUT")

_PATH: Final = re.compile(r"/w/rest\.php/(content/)?v1/page/([^/]*)(?:/(bare|html|with_html))?")


@dataclass(frozen=True, slots=True)
class PageRoute:
    """The route as one request asks for it; `located` is what is there."""

    asked: PageAsked
    located: Located | None
    targets: tuple[Target, ...]
    key: str
    renders: bool

    @classmethod
    def match(cls, request: Request, world: "World") -> "PageRoute | NoMatch | None":
        """None for a path that is not this route's."""
        match = _PATH.fullmatch(request.raw_path)
        if match is None:
            return None
        form = cast(Form, match[3] or "source")
        text = segment(match[2])
        wiki = world.wikis.serving(request.host)
        if wiki is None:
            return NoMatch((Target(page=text),), request.path, nonexistent_title(text))
        title = _title(wiki, text)
        page = None if title is None else wiki.page(title)
        located = None if page is None else wiki.latest(page)
        if located is None:
            target = Target(wiki=wiki.name, page=text if title is None else title.text)
        else:
            target = Target(wiki.name, located.page.title, located.page.page_id, located.revision.rev_id)
        key = f"title:{text if title is None else title.dbkey}"
        return cls(
            asked=PageAsked(request, "content/v1" if match[1] else "v1", form, text, wiki, title),
            located=located,
            targets=(target,),
            key=key if form in RENDERED else f"{form}:{key}",
            renders=located is not None and form in RENDERED and request.method in READING,
        )

    def status_reply(self, status: StatusAnswer, request_id: str) -> Reply:
        """403 and 404 name the title, as MediaWiki's do."""
        return status_reply(
            status,
            self.asked.request,
            request_id,
            missing=nonexistent_title(self.asked.text),
            denied=denied_title(self.asked.text),
        )

    async def reply(self, context: Context) -> Reply:
        """The page with its headers, the way to it, or the error."""
        if (failed := planned_exception(context)) is not None:
            return failed
        try:
            return guarded(await self._reply(context), context, self.asked.wiki)
        except RestError as error:
            return error_reply(error, context.request, context.request_id, coding=coding_of(context))

    async def _reply(self, context: Context) -> Reply:
        request = context.request
        if request.method not in READING:
            if request.method == "PUT" and self.asked.form == "source":
                return await self._update(context)
            allowed = METHODS_OF_SOURCE if self.asked.form == "source" else READING
            return method_reply(request, context.request_id, allowed, coding=coding_of(context))
        if not self.asked.text:
            raise missing("title")
        parameters = parse_query(request.query) if request.query else {}
        follow = redirect_parameter(parameters)
        if self.asked.form in RENDERED:
            flavor = flavor_parameter(parameters)
            return await rendered(self.asked, context, self._seen(context), flavor, follow=follow)
        return await described(self.asked, context, self._seen(context))

    async def _update(self, context: Context) -> Reply:
        draft = Draft.read(context.request, titled=False)
        if not self.asked.text:
            raise missing("title")
        if conditional(context.request) and (status := decide(context.request, Validators(None, None, exists=False))):
            return bare_reply(status, context.request_id)
        return await write(context, self.asked.wiki, self.asked.text, draft)

    def _seen(self, context: Context) -> Visible | None:
        """The newest revision that is there for this request: rules may hide one and not the one before."""
        seen = visible(self.located, context.plan)
        if seen is not None or self.located is None:
            return seen
        page = self.located.page
        for revision in reversed(page.revisions[:-1]):
            target = Target(page.wiki, page.title, page.page_id, revision.rev_id)
            seen = visible(Located(page, revision), context.plan_of(target))
            if seen is not None:
                return seen
        return None


def _title(wiki: Wiki, text: str) -> Title | None:
    try:
        title = wiki.title(text)
    except InvalidTitle:
        return None
    if title.namespace_id == MEDIA:
        return wiki.in_namespace(title, FILE)
    return title if title.can_exist else None
