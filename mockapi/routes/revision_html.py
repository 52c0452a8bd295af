"""`GET /v1/revision/{id}/html`: the HTML of one revision, as Parsoid renders it."""

import re
import uuid
from dataclasses import dataclass
from datetime import UTC
from email.utils import format_datetime
from typing import Final

from mockapi.draws import digest
from mockapi.faults import body as body_fault
from mockapi.faults import plan_for
from mockapi.faults.plan import Plan
from mockapi.pages.article import HTML_VERSION
from mockapi.pages.language import language_of
from mockapi.reply import Headers, Reply
from mockapi.rest_errors import bad_integer, rest_error
from mockapi.routes.request import REST_ROOT
from mockapi.rules.matching import Subject, matching
from mockapi.titles import Located
from mockapi.world import World

_PATH: Final = re.compile(r"/(?:content/)?v1/revision/([^/]+)/html")
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_LARGEST: Final = 2**63 - 1
_LONGEST_INTEGER: Final = 20
_CONTENT_TYPE: Final = (
    f'text/html; charset=utf-8; profile="https://www.mediawiki.org/wiki/Specs/HTML/{HTML_VERSION}"'.encode()
)


@dataclass(frozen=True, slots=True)
class RevisionHtml:
    """The route as one request asks for it: `text` is the id as written, `rev_id` None when that is no 64-bit integer.
    `wiki` is that of the revision, else the host's, else None.
    """

    text: str
    rev_id: int | None
    wiki: str | None
    located: Located | None

    @classmethod
    def of(cls, relative: str, host: str, world: World) -> "RevisionHtml | None":
        """None for a path (relative to the REST root) that is not this route's."""
        match = _PATH.fullmatch(relative)
        if match is None:
            return None
        rev_id = _integer(match[1])
        located = None if rev_id is None else world.titles.find(rev_id, host=host)
        wiki = located.page.wiki if located else world.titles.wiki_of_host(host)
        return cls(match[1], rev_id, wiki, located)

    @property
    def renders(self) -> bool:
        """Whether the answer, if no fault is in its place, takes a parse: not so for an error."""
        return self.located is not None

    def subject(self, method: str, path: str, at_s: float) -> Subject:
        """What rules see of the request."""
        page = self.located.page if self.located else None
        title, page_id = (page.title, page.page_id) if page else (None, None)
        return Subject(method, path, self.wiki, title, self.rev_id, page_id, at_s)

    async def reply(
        self, world: World, plan: Plan, *, accepts_gzip: bool, language: str | None, request_id: str
    ) -> Reply:
        """The document with its headers, or the error; `language` is the first tag of Accept-Language."""
        if self.rev_id is None:
            return bad_integer("id", self.text, request_id)
        if self.located is None:
            text = f"The specified revision ({self.rev_id}) does not exist"
            return rest_error(404, "rest-nonexistent-revision", text, request_id)
        block = body_fault.block(plan.body)
        encoding: Headers = ()
        if body_fault.compresses(plan.body, accepted=accepts_gzip):
            packed = await world.pages.gzipped(self.located, block)
            wire, real_bytes = packed.wire, packed.real_bytes
            encoding = ((b"content-encoding", b"gzip"),)
        else:
            wire = await world.pages.plain(self.located, block)
            real_bytes = len(wire)
        headers = (
            *_document_headers(world.seed, self.located, language),
            *encoding,
            (b"content-length", str(len(wire)).encode()),
            (b"x-request-id", request_id.encode("latin-1")),
        )
        return Reply(200, headers, wire, real_bytes)


async def truth(world: World, located: Located) -> bytes:
    """The body, not encoded, that a GET under `/v1` gets of this revision when it gets the page; windows are as now."""
    rev_id, page = located.revision.rev_id, located.page
    path = f"{REST_ROOT}/v1/revision/{rev_id}/html"
    subject = Subject("GET", path, page.wiki, page.title, rev_id, page.page_id, world.clock.elapsed() or 0.0)
    plan = plan_for(matching(world.rules, subject, seed=world.seed), seed=world.seed, key=str(rev_id), attempt=1)
    return await world.pages.plain(located, body_fault.block(plan.body))


def _document_headers(seed: int, located: Located, language: str | None) -> Headers:
    page, revision = located.page, located.revision
    vary = b"x-restbase-compat" if language is None else b"Accept-Language, x-restbase-compat"
    return (
        (b"x-content-type-options", b"nosniff"),
        (b"content-type", _CONTENT_TYPE),
        (b"content-language", language_of(page.domain).encode()),
        (b"content-revision-id", str(revision.rev_id).encode()),
        (b"cache-control", b"max-age=5"),
        (b"last-modified", format_datetime(revision.timestamp.astimezone(UTC), usegmt=True).encode()),
        (b"etag", etag(seed, located, language).encode()),
        (b"vary", vary),
    )


def etag(seed: int, located: Located, language: str | None) -> str:
    """`"<rev>/<uuid>/view/html"`; the uuid, which MediaWiki makes anew for each render, is drawn from the seed."""
    revision = located.revision.rev_id
    render = uuid.UUID(bytes=digest(seed, "etag", located.page.wiki, revision), version=1)
    return f'"{revision}/{render}/view/html' + (f'+lang:{language}"' if language is not None else '"')


def _integer(text: str) -> int | None:
    if not _INTEGER.fullmatch(text) or len(text) > _LONGEST_INTEGER:
        return None
    value = int(text)
    return value if -_LARGEST - 1 <= value <= _LARGEST else None
