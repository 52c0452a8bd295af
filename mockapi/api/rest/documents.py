"""The answers that carry HTML: by itself (`html`) or as a member of the metadata (`with_html`).

Page and revision routes have the same headers in different orders.
"""

import codecs
from collections.abc import Iterator
from functools import partial
from typing import Final

from mockapi.api.endpoint import Context
from mockapi.api.rest.envelope import JSON_TYPE, coding_of, enclosed, json_text, sealed_long
from mockapi.api.rest.html_render import Render, html_body
from mockapi.api.rest.metadata import Members
from mockapi.server.reply import Body, Headers, Reply, Streamed
from mockapi.wiki.pages.coding import encoded
from mockapi.wiki.pages.pieces import even

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
    """Status 200 with `own` headers; encoded as the client accepts it."""
    coding = coding_of(context)
    body = await html_body(context.world, render, context.plan, coding)
    return enclosed(200, own, body, context.request_id, coding=coding)


async def with_html_reply(context: Context, render: Render, own: Headers, members: Members, after: Members) -> Reply:
    """The metadata with the document as their member `html`; `after` follows it."""
    coding = coding_of(context)
    plain = await html_body(context.world, render, context.plan, None)
    if plain.held:
        text = b"".join(plain.pieces()).decode(errors="replace")
        data = json_text({**members, "html": text, **after})
        return await sealed_long(200, own, data, context.request_id, coding=coding)
    around = json_text({**members, "html": "", **after}).partition(_HOLE)
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
