"""Wikibase's `Special:EntityData`: the RDF of an entity, as Turtle or N-Triples.

    /wiki/Special:EntityData/Q42.ttl?flavor=dump[&revision=N] ── not so written? 301 ── no format? 303
                                                              └─ no such entity, or no revision of it: 404

A real one answers 404 for what is deleted or hidden, and never 204; both that and an empty 200, which a proxy makes of
it, are for rules. Read from Wikibase's `EntityDataRequestHandler`. Every flavour it knows is the dump here.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self, cast

from mockapi.api import status as statuses
from mockapi.api.endpoint import Context
from mockapi.api.rest.envelope import coding_of
from mockapi.api.rest.html_render import last_modified
from mockapi.api.rest.parameters import integer, parse_query
from mockapi.api.rest.visibility import visible
from mockapi.plan import StatusAnswer
from mockapi.rules.matching import Target
from mockapi.server.reply import Headers, Held, Reply
from mockapi.server.request import Request
from mockapi.wiki.catalog import Located
from mockapi.wiki.wiki import Wiki
from mockapi.wiki.wikibase.entity_id import ENTITY_ID, entity_page, entity_title
from mockapi.wiki.wikibase.entity_rdf import EntityRdf, RdfForm
from mockapi.wiki.wikibase.entity_source import read_source

if TYPE_CHECKING:
    from mockapi.world import World

_PATH: Final = re.compile(r"/wiki/Special:EntityData/([^/.]*)(?:\.([^/]*))?")
_TYPES: Final = {"ttl": b"text/turtle", "nt": b"application/n-triples"}
_OTHER_NAMES: Final = {"turtle": "ttl", "ntriples": "nt"}
_FLAVORS: Final = ("simple", "dump", "long", "full")
_METHODS: Final = frozenset({"GET", "HEAD"})
_ANY_ORIGIN: Final = (b"access-control-allow-origin", b"*")
_PRIVATE: Final = (b"cache-control", b"private, no-cache, s-maxage=0")
_PUBLIC: Final = (b"cache-control", b"public, s-maxage=3600, max-age=3600")


class EntityDataError(Exception):
    """An answer that is no entity."""

    def __init__(self, code: int, english: str) -> None:
        super().__init__(english)
        self.code = code
        self.english = english


@dataclass(frozen=True, slots=True)
class EntityData:
    """A request for an entity. `written` is its id and `form` its format as the client writes them, `rev_id` 0 for the
    current revision, `located` what is found, the redirect if it is one.
    """

    written: str
    form: str
    rev_id: int
    flavor: str | None
    wiki: Wiki | None
    located: Located | None
    targets: tuple[Target, ...]
    key: str
    renders: bool

    @classmethod
    def match(cls, request: Request, world: "World") -> Self | None:
        """None for another path."""
        match = _PATH.fullmatch(request.path)
        if match is None:
            return None
        query = parse_query(request.query)
        entity, rev_id = match[1].upper(), integer(query.get("revision", "0")) or 0
        wiki = world.wikis.serving(request.host)
        located = None if wiki is None else _locate(wiki, entity, rev_id)
        known = entity if ENTITY_ID.fullmatch(entity) else None
        target = Target(
            wiki.name if wiki else None,
            entity_title(known) if known else None,
            located.page.page_id if located else None,
            located.revision.rev_id if located else rev_id or None,
            known,
        )
        return cls(
            written=match[1],
            form=match[2] or "",
            rev_id=rev_id,
            flavor=query.get("flavor"),
            wiki=wiki,
            located=located,
            targets=(target,),
            key=f"entity:{entity}" + (f"/{rev_id}" if rev_id else ""),
            renders=located is not None and request.method in _METHODS,
        )

    def status_reply(self, status: StatusAnswer, request_id: str) -> Reply:
        """404 in Wikibase's words, the rest as everywhere."""
        if status.code != 404 or status.body is not None:
            return statuses.reply(status, request_id)
        return statuses.with_retry_after(_error_reply(self._not_found(), request_id), status)

    async def reply(self, context: Context) -> Reply:
        """The RDF, the way to its canonical place, or the error."""
        try:
            return await self._reply(context)
        except EntityDataError as error:
            return _error_reply(error, context.request_id)

    async def _reply(self, context: Context) -> Reply:
        request, world, entity = context.request, context.world, self.written.upper()
        if request.method not in _METHODS:
            raise EntityDataError(405, f"The method {request.method} is not allowed.")
        if not ENTITY_ID.fullmatch(entity):
            raise EntityDataError(400, f"Invalid ID: {self.written}.")
        if not self.form:
            form = "nt" if "n-triples" in request.headers.get("accept", "") else "ttl"
            return self._redirect(303, entity, form, context.request_id)
        form = _OTHER_NAMES.get(self.form.lower(), self.form.lower())
        if form not in _TYPES:
            raise EntityDataError(415, f"The data format {self.form} is not supported by this interface.")
        if f"{self.written}.{self.form}" != f"{entity}.{form}":
            return self._redirect(301, entity, form, context.request_id)
        if self.flavor is not None and self.flavor not in _FLAVORS:
            raise EntityDataError(400, f"Unknown flavor {self.flavor}, known ones: {'|'.join(_FLAVORS)}.")
        seen = visible(self.located, context.plan)
        if seen is None or "text" in seen.hidden:
            raise self._not_found()
        _check_source(seen.located)
        coding = coding_of(context)
        shape = context.plan.document or EntityRdf(cast(RdfForm, form))
        if coding is None:
            body = await world.pages.plain(seen.located, shape)
        else:
            body = await world.pages.encoded(seen.located, shape, coding)
        length = body.wire_bytes
        headers: Headers = (
            _ANY_ORIGIN,
            (b"content-type", _TYPES[form] + b"; charset=UTF-8"),
            (b"last-modified", last_modified(seen.located.revision.timestamp)),
            _PUBLIC if self.flavor is None else _PRIVATE,
            (b"vary", b"Accept-Encoding"),
            *(() if coding is None else ((b"content-encoding", coding.encode()),)),
            *(() if length is None else ((b"content-length", str(length).encode()),)),
            (b"x-request-id", context.request_id.encode("latin-1", "replace")),
        )
        return Reply(200, headers, body)

    def _redirect(self, code: int, entity: str, form: str, request_id: str) -> Reply:
        """To the canonical place; as in Wikibase, the flavour is lost on the way."""
        query = f"?revision={self.rev_id}" if self.rev_id else ""
        server = self.wiki.server if self.wiki else ""
        place = f"{server}/wiki/Special:EntityData/{entity}.{form}{query}".encode()
        own = (_ANY_ORIGIN, (b"location", place), (b"x-request-id", request_id.encode("latin-1", "replace")))
        return Reply(code, (*own, (b"content-length", b"0")), Held(b""))

    def _not_found(self) -> EntityDataError:
        if self.rev_id:
            return EntityDataError(404, f"Can't show revision {self.rev_id} of entity {self.written}.")
        return EntityDataError(404, f"No entity with ID {self.written} was found.")


def _locate(wiki: Wiki, entity: str, rev_id: int) -> Located | None:
    page = entity_page(wiki, entity) if ENTITY_ID.fullmatch(entity) else None
    if page is None or not rev_id:
        return None if page is None else wiki.latest(page)
    located = wiki.revision(rev_id)
    return located if located is not None and located.page.page_id == page.page_id else None


def _check_source(located: Located) -> None:
    try:
        read_source(located)
    except ValueError:
        rev_id = located.revision.rev_id
        raise EntityDataError(500, f"Failed to load revision {rev_id} of {located.page.title} from storage.") from None


def _error_reply(error: EntityDataError, request_id: str) -> Reply:
    body = f"<!DOCTYPE html>\n<html><head><title>{error.code}</title></head><body><p>{error.english}</p></body></html>"
    data = body.encode()
    headers = (
        _ANY_ORIGIN,
        (b"content-type", b"text/html; charset=utf-8"),
        (b"cache-control", b"no-cache"),
        (b"content-length", str(len(data)).encode()),
        (b"x-request-id", request_id.encode("latin-1", "replace")),
    )
    return Reply.of(error.code, headers, data)
