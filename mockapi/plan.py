"""What the rules make of one request, before anything of it happens."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from mockapi.server.delivery import AS_IT_IS, Delivery
from mockapi.upstream.buckets import Limit
from mockapi.wiki.catalog import HiddenPart
from mockapi.wiki.pages.coding import Coding
from mockapi.wiki.pages.document import Shape


@dataclass(frozen=True, slots=True)
class StatusAnswer:
    """An answer that is not the page. `body` None is the words of the part that gives such an answer in production;
    else it is sent as `content_type`. `retry_after` is sent in seconds, or as the date of then. `headers` are sent in
    place of those of their names.
    """

    code: int
    body: str | None = None
    retry_after: timedelta | None = None
    retry_after_as: Literal["seconds", "date"] = "seconds"
    content_type: str = "text/plain"
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class OtherBody:
    """What a revision has in place of its own `document`, None for none, and how it is encoded: as `coding` for who
    accepts it, for any with `force`; None as without a rule.
    """

    document: Shape | None = None
    coding: Coding | Literal["identity"] | None = None
    force: bool = False


@dataclass(frozen=True, slots=True)
class WikiState:
    """How a wiki is for a request, whatever its pages are otherwise.

    `missing` revisions are as if deleted or not there yet. Of others the parts in `hidden` were revision-deleted, with
    `suppressed` also from those who may see deleted ones. `lag` is how far replicas are behind, for `maxlag`; None
    for a single server. `unknown_for` says under which rule, and until how long after it was first asked for, a
    revision has not reached the replica; who plays the request turns that into `missing`.
    """

    missing: bool = False
    hidden: frozenset[HiddenPart] = frozenset()
    suppressed: bool = False
    lag: timedelta | None = None
    unknown_for: tuple[str, timedelta] | None = None


AS_BUILT = WikiState()
"""The wiki as its catalog has it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The effective faults of a request.

    `rules` are the names of all that matched, also those a later one overrode. `draws` holds what was drawn, by a name
    that ends in its unit (`latency_s`). `latency` None is for ever. `parse` and `gateway_timeout` are None without such
    a fault; `capacity` is the name of the rule whose capacity holds, `limits` are the token buckets to pass, by their
    rules' names, and `connections` is the rule that bounds connections, with their number. `error` is the
    code of an error that the wiki gives to requests that can get it. `body` is about the document, `delivery` about how
    its bytes leave.
    """

    rules: tuple[str, ...] = ()
    limits: tuple[tuple[str, Limit], ...] = ()
    connections: tuple[str, int] | None = None
    latency: timedelta | None = timedelta(0)
    status: StatusAnswer | None = None
    error: str | None = None
    body: OtherBody | None = None
    parse: timedelta | None = None
    capacity: str | None = None
    gateway_timeout: timedelta | None = None
    state: WikiState = AS_BUILT
    delivery: Delivery = AS_IT_IS
    draws: Mapping[str, float] = field(default_factory=dict)

    @property
    def document(self) -> Shape | None:
        """The document in place of a revision's own."""
        return None if self.body is None else self.body.document


NOTHING = Plan()
"""The plan of a request that meets no rule."""
