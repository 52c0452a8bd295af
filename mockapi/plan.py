"""What the rules make of one request, before anything of it happens."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from mockapi.catalog import HiddenPart
from mockapi.delivery.delivery import AS_IT_IS, Delivery

if TYPE_CHECKING:
    from mockapi.faults.body import Body
    from mockapi.faults.rate_limit import RateLimit
    from mockapi.faults.status import Status


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
    """The faults in force for a request.

    `rules` are the names of all that matched, also those a later one overrode. `draws` holds what was drawn, by a name
    that ends in its unit (`latency_s`). `latency` None is for ever. `parse` and `gateway_timeout` are None without such
    a fault; `capacity` is the name of the rule whose capacity holds, `limits` are the token buckets to pass, by their
    rules' names. `body` is about the document, `delivery` about how its bytes leave.
    """

    rules: tuple[str, ...] = ()
    limits: "tuple[tuple[str, RateLimit], ...]" = ()
    latency: timedelta | None = timedelta(0)
    status: "Status | None" = None
    body: "Body | None" = None
    parse: timedelta | None = None
    parser_cache: bool = False
    capacity: str | None = None
    gateway_timeout: timedelta | None = None
    state: WikiState = AS_BUILT
    delivery: Delivery = AS_IT_IS
    draws: Mapping[str, float] = field(default_factory=dict)


NOTHING = Plan()
"""The plan of a request that meets no rule."""
