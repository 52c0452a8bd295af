"""`GET /v1/revision/{id}`, `/bare`, `/html` and `/with_html`: one revision, of whatever age."""

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from mockapi.api.endpoint import Context
from mockapi.api.rest import html_render
from mockapi.api.rest.envelope import JSON_TYPE, coding_of, compatible, kept_json
from mockapi.api.rest.errors import (
    RestError,
    denied_revision,
    error_reply,
    method_reply,
    nonexistent_revision,
    unavailable_revision,
)
from mockapi.api.rest.html_render import CACHE_CONTROL, Render, source_etag, source_validators
from mockapi.api.rest.metadata import Members, compatible_members, revision_members
from mockapi.api.rest.parameters import bad_integer, flavor_parameter, integer, parse_query
from mockapi.api.rest.path import READING, RENDERED, Form, Module, revision_path, segment
from mockapi.api.rest.planned_error import planned_exception
from mockapi.api.rest.preconditions import Validators, bare_reply, conditional, decide
from mockapi.api.rest.redirects import written_target
from mockapi.api.rest.visibility import Visible, guarded, visible
from mockapi.api.status import status_reply
from mockapi.plan import StatusAnswer
from mockapi.rules.matching import Target
from mockapi.server.reply import Reply
from mockapi.server.request import Request
from mockapi.wiki.catalog import Located
from mockapi.wiki.facts import facts
from mockapi.wiki.wiki import Wiki

if TYPE_CHECKING:
    from mockapi.world import World


_ROUTE: Final = "revision"
_PATH: Final = re.compile(r"/w/rest\.php/(content/)?v1/revision/([^/]*)(?:/(bare|html|with_html))?")


@dataclass(frozen=True, slots=True)
class RevisionRoute:
    """The route as one request asks for it. `text` is the id as written; None for `rev_id` is no 64-bit integer."""

    request: Request
    module: Module
    form: Form
    text: str
    rev_id: int | None
    wiki: Wiki | None
    located: Located | None
    targets: tuple[Target, ...]
    key: str
    renders: bool

    @classmethod
    def match(cls, request: Request, world: "World") -> "RevisionRoute | None":
        """None for a path that is not this route's."""
        match = _PATH.fullmatch(request.raw_path)
        if match is None:
            return None
        form = cast(Form, match[3] or "source")
        text = segment(match[2])
        rev_id = integer(text)
        located = None if rev_id is None else world.wikis.find(rev_id, host=request.host)
        if located is None:
            wiki = world.wikis.serving(request.host)
            target = Target(wiki=wiki.name if wiki else None, revision=rev_id)
        else:
            page = located.page
            wiki = world.wikis.by_name(page.wiki)
            target = Target(wiki=page.wiki, page=page.title, page_id=page.page_id, revision=rev_id)
        return cls(
            request=request,
            module="content/v1" if match[1] else "v1",
            form=form,
            text=text,
            rev_id=rev_id,
            wiki=wiki,
            located=located,
            targets=(target,),
            key=_key(request, form, rev_id),
            renders=located is not None and form in RENDERED and request.method in READING,
        )

    def status_reply(self, status: StatusAnswer, request_id: str) -> Reply:
        """403 and 404 name the revision, as MediaWiki's do."""
        asked = self.text if self.rev_id is None else self.rev_id
        return status_reply(
            status, self.request, request_id, missing=nonexistent_revision(asked), denied=denied_revision(asked)
        )

    async def reply(self, context: Context) -> Reply:
        """The revision with its headers, or the error."""
        if (failed := planned_exception(context)) is not None:
            return failed
        try:
            reply = await self._reply(context)
        except RestError as error:
            return error_reply(error, context.request, context.request_id, coding=coding_of(context))
        return reply if self.wiki is None else guarded(reply, context, self.wiki)

    async def _reply(self, context: Context) -> Reply:
        request = context.request
        if request.method not in READING:
            return method_reply(request, context.request_id, READING, coding=coding_of(context))
        if self.rev_id is None:
            raise bad_integer("id", self.text)
        seen = visible(self.located, context.plan)
        if self.form in RENDERED:
            return await self._rendered(context, self.rev_id, seen)
        return await self._described(context, self.rev_id, seen)

    async def _rendered(self, context: Context, rev_id: int, seen: Visible | None) -> Reply:
        request, readable = context.request, seen is not None and "text" not in seen.hidden
        flavor = flavor_parameter(parse_query(request.query)) if request.query else "view"
        render = None
        if seen is not None and readable:
            if flavor == "fragment":
                raise unavailable_revision()
            render = Render(context.world.seed, seen, self.form, flavor, request.language)
        if conditional(request) and (status := decide(request, _validators(render, exists=seen is not None))):
            return bare_reply(status, context.request_id)
        if seen is None or self.wiki is None:
            raise nonexistent_revision(rev_id)
        if render is None:
            raise denied_revision(rev_id)
        cache_control = render.cache_control
        if self.form == "html":
            own = html_render.html_of_revision(render, self.wiki.language, cache_control)
            return await html_render.html_reply(context, render, own)
        own = html_render.with_html_of_revision(render, cache_control)
        wiki, seed = self.wiki, context.world.seed

        def members(html: str) -> Members:
            return {**revision_members(wiki, seed, seen), "html": html}

        return await html_render.with_html_reply(context, render, own, _ROUTE, members)

    async def _described(self, context: Context, rev_id: int, seen: Visible | None) -> Reply:
        request = context.request
        readable = seen is not None and "text" not in seen.hidden
        etag = source_etag(None if seen is None else rev_id, readable=readable)
        changed = seen.located.revision.timestamp if seen is not None and readable else None
        if conditional(request) and (status := decide(request, Validators(etag, changed, exists=seen is not None))):
            return bare_reply(status, context.request_id)
        if seen is None or self.wiki is None:
            raise nonexistent_revision(rev_id)
        if not readable:
            raise denied_revision(rev_id)
        cache_control = (CACHE_CONTROL,) if seen.public else ()
        own = (JSON_TYPE, *cache_control, *source_validators(etag, changed))
        about = (_ROUTE, self.module, self.form, compatible(request))
        return await kept_json(context, own, seen, about, partial(self._members, self.wiki, context, seen))

    def _members(self, wiki: Wiki, context: Context, seen: Visible) -> Members:
        located, seed = seen.located, context.world.seed
        if compatible(context.request):
            redirect = written_target(wiki.latest(located.page)) is not None
            return compatible_members(wiki, seed, seen, redirect=redirect)
        members = revision_members(wiki, seed, seen)
        if self.form == "bare":
            members["html_url"] = wiki.server + revision_path(self.module, located.revision.rev_id, "html")
        else:
            members["source"] = facts(seed, located).text
        return members


def _key(request: Request, form: Form, rev_id: int | None) -> str:
    if rev_id is None:
        return request.path
    return str(rev_id) if form in RENDERED else f"{form}:{rev_id}"


def _validators(render: Render | None, *, exists: bool) -> Validators:
    return Validators(render.etag if render else None, render.rendered_at if render else None, exists=exists)
