"""The HTML of a revision: its entity tag, its headers, its bytes.

MediaWiki makes a new id for each render and keeps it while the parser cache keeps the render. Here the id is drawn from
the seed and the time is the revision's: a render is the same in every process, and never expires.
"""

import codecs
import hashlib
import uuid
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from mockapi.api.endpoint import Context
from mockapi.api.rest.envelope import BY_LANGUAGE, JSON_TYPE, coding_of, enclosed, json_text, kept_json
from mockapi.api.rest.metadata import Members
from mockapi.api.rest.path import Form
from mockapi.api.rest.planned_error import check_stash
from mockapi.api.rest.visibility import Visible
from mockapi.draws import digest
from mockapi.plan import Plan
from mockapi.server.reply import Body, Headers, Reply, Streamed
from mockapi.wiki.pages.coding import Coding, encoded, even
from mockapi.wiki.pages.flavor import Flavor
from mockapi.wiki.pages.frame import HTML_VERSION

if TYPE_CHECKING:
    from mockapi.world import World

CACHE_CONTROL: Final = (b"cache-control", b"max-age=5")

_PROFILE: Final = 'text/html; charset=utf-8; profile="https://www.mediawiki.org/wiki/Specs/HTML/{}"'
_BY_PARSOID: Final = frozenset({"wikitext", "json"})
_NO_VERSION: Final = "0.0.0"
_REMEMBERED: Final = 32768


@dataclass(frozen=True, slots=True)
class Render:
    """One revision as HTML: `form` is `html` or `with_html`, `language` the tag of Accept-Language, if any."""

    seed: int
    seen: Visible
    form: Form
    flavor: Flavor = "view"
    language: str | None = None

    @property
    def etag(self) -> str:
        """With its quotes."""
        located = self.seen.located
        return _etag(self.seed, located.page.wiki, located.revision.rev_id, f"{self.flavor}/{self.form}", self.language)

    @property
    def rendered_at(self) -> datetime:
        """The revision's own time, so that it is the same in each run."""
        return self.seen.located.revision.timestamp

    @property
    def revision_header(self) -> tuple[bytes, bytes]:
        """`Content-Revision-Id`, by which a client can tell that it got the revision it asked for."""
        return b"content-revision-id", str(self.seen.located.revision.rev_id).encode()

    @property
    def content_type(self) -> bytes:
        """Of the HTML by itself, with the version of Parsoid's format; what another part renders has none."""
        version = HTML_VERSION if self.seen.located.page.content_model in _BY_PARSOID else _NO_VERSION
        return _PROFILE.format(version).encode()

    @property
    def cache_control(self) -> Headers:
        """No header for what not everybody may see."""
        return (CACHE_CONTROL,) if self.seen.public else ()

    @property
    def validators(self) -> Headers:
        """Last-Modified and ETag, for the client's next conditional request."""
        return ((b"last-modified", last_modified(self.rendered_at)), (b"etag", self.etag.encode("latin-1")))

    @property
    def varies(self) -> Headers:
        """The header `vary` where it is not the usual one."""
        return () if self.language is None else (BY_LANGUAGE,)


async def html_body(world: "World", render: Render, plan: Plan, coding: Coding | None) -> Body:
    """The HTML as it leaves; that of a bomb or an exact size where the plan wants one."""
    located, shape = render.seen.located, plan.document
    if coding is None:
        return await world.pages.plain(located, shape, flavor=render.flavor)
    return await world.pages.encoded(located, shape, coding, flavor=render.flavor)


@lru_cache(maxsize=_REMEMBERED)
def last_modified(at: datetime) -> bytes:
    """A time as HTTP writes it."""
    return format_datetime(at.astimezone(UTC), usegmt=True).encode()


@lru_cache(maxsize=_REMEMBERED)
def render_id(seed: int, wiki: str, rev_id: int) -> str:
    """The id, in the form of a UUID of version 1, of the one render of a revision."""
    return str(uuid.UUID(bytes=digest(seed, "etag", wiki, rev_id), version=1))


def _etag(seed: int, wiki: str, rev_id: int, suffix: str, language: str | None) -> str:
    by_language = "" if language is None else f"+lang:{language}"
    return f'"{rev_id}/{render_id(seed, wiki, rev_id)}/{suffix}{by_language}"'


def source_etag(rev_id: int | None, *, readable: bool) -> str:
    """The entity tag, with its quotes, of source and metadata; `rev_id` None for no revision."""
    state = f"{'e0' if rev_id is None else rev_id}{'a1' if readable else 'a0'}"
    return f'"{hashlib.sha1(state.encode(), usedforsecurity=False).hexdigest()}"'


def source_validators(etag: str, changed: datetime | None) -> Headers:
    """The headers of time, if any, and entity tag."""
    times = () if changed is None else ((b"last-modified", last_modified(changed)),)
    return (*times, (b"etag", etag.encode()))


_HOLE: Final = b'"html":""'


def html_of_revision(render: Render, language: str, cache_control: Headers) -> Headers:
    """In the order in which MediaWiki sends them, which differs from that of a page."""
    return (
        (b"content-type", render.content_type),
        (b"content-language", language.encode()),
        *render.varies,
        render.revision_header,
        *cache_control,
        *render.validators,
    )


def html_of_page(render: Render, language: str, cache_control: Headers) -> Headers:
    """In the order in which MediaWiki sends them, which differs from that of a revision."""
    return (
        *cache_control,
        (b"content-language", language.encode()),
        (b"content-type", render.content_type),
        *render.varies,
        render.revision_header,
        *render.validators,
    )


def with_html_of_revision(render: Render, cache_control: Headers) -> Headers:
    """As for the HTML alone, but with JSON's type and no Content-Language."""
    return (JSON_TYPE, *render.varies, render.revision_header, *cache_control, *render.validators)


def with_html_of_page(render: Render, cache_control: Headers) -> Headers:
    """As for the HTML alone, but with JSON's type and no Content-Language."""
    return (JSON_TYPE, *cache_control, *render.varies, render.revision_header, *render.validators)


async def html_reply(context: Context, render: Render, own: Headers) -> Reply:
    """Status 200 with `own` headers; encoded as the client accepts it. Raises RestError."""
    check_stash(context, render.flavor)
    coding = coding_of(context)
    body = await html_body(context.world, render, context.plan, coding)
    return enclosed(200, own, body, context.request_id, coding=coding)


async def with_html_reply(
    context: Context, render: Render, own: Headers, about: Hashable, members: Callable[[str], Members]
) -> Reply:
    """The `members` around the document, whose text they are given. Raises RestError."""
    check_stash(context, render.flavor)
    plain = await html_body(context.world, render, context.plan, None)
    if plain.held:

        def with_document() -> Members:
            return members(b"".join(plain.pieces()).decode(errors="replace"))

        return await kept_json(context, own, render.seen, (about, render.form), with_document, document=plain)
    coding = coding_of(context)
    around = json_text(members("")).partition(_HOLE)
    parts = partial(_streamed, (around[0] + _HOLE[:-1], _HOLE[-1:] + around[2]), plain)
    body = Streamed(parts if coding is None else lambda: encoded(coding, even(parts())), None, plain.decoded_bytes)
    return enclosed(200, own, body, context.request_id, coding=coding)


def _streamed(around: tuple[bytes, bytes], document: Body) -> Iterator[bytes]:
    """A long document as a JSON string between the two, never there as a whole."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    yield around[0]
    for piece in document.pieces():
        yield json_text(decoder.decode(piece))[1:-1]
    yield json_text(decoder.decode(b"", final=True))[1:-1]
    yield around[1]
