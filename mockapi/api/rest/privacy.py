"""What a client with a session gets is for it alone: caches may not keep it."""

from dataclasses import replace
from typing import Final

from mockapi.api.endpoint import Context
from mockapi.server.reply import Reply
from mockapi.wiki.accounts import Session
from mockapi.wiki.wiki import Wiki

PRIVATE: Final = (b"cache-control", b"private,must-revalidate,s-maxage=0")
NOT_CACHED: Final = (b"cache-control", b"private,no-cache,s-maxage=0")

_CACHED: Final = frozenset({200, 301, 307})


def session_of(context: Context, wiki: Wiki) -> Session | None:
    """The session that the client's cookie names."""
    if "cookie" not in context.request.headers:
        return None
    return context.world.accounts(wiki).session(context.request.cookies.get(f"{wiki.name}_session"))


def guarded(reply: Reply, context: Context, wiki: Wiki) -> Reply:
    """`reply` as it goes to the client of the request."""
    if reply.status not in _CACHED or session_of(context, wiki) is None:
        return reply
    headers = list(reply.headers)
    names = [name for name, _ in headers]
    if b"cache-control" in names:
        headers[names.index(b"cache-control")] = PRIVATE
    else:
        headers.insert(names.index(b"vary"), PRIVATE)
    return replace(reply, headers=tuple(headers))
