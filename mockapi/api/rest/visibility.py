"""What a client sees of a revision, and whether caches may keep it: not what a client with a session gets."""

from dataclasses import dataclass, replace
from typing import Final

from mockapi.api.endpoint import Context
from mockapi.plan import AS_BUILT, Plan
from mockapi.server.reply import Reply
from mockapi.wiki.accounts import Session
from mockapi.wiki.catalog import HiddenPart, Located
from mockapi.wiki.wiki import Wiki


@dataclass(frozen=True, slots=True)
class Visible:
    """A revision that is there, and what of it is hidden."""

    located: Located
    hidden: frozenset[HiddenPart]

    @property
    def public(self) -> bool:
        """Whether nothing is hidden, so that caches may keep it."""
        return not self.hidden


def visible(located: Located | None, plan: Plan) -> Visible | None:
    """The revision under `plan`; None when it is as if it were not there."""
    if located is None or plan.state.missing:
        return None
    hidden = frozenset(located.revision.hidden)
    return Visible(located, hidden if plan.state is AS_BUILT else hidden | plan.state.hidden)


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
