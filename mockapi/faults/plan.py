"""What the rules make of one request, before anything of it happens."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from mockapi.rules.model import Body, Status


@dataclass(frozen=True, slots=True)
class Plan:
    """The faults in force for a request.

    `rules` are the names of all that matched, also those a later one overrode. `draws` holds what was drawn, by a name
    that ends in its unit (`latency_s`). `parse` and `gateway_timeout` are None without such a fault; `capacity` is the
    name of the rule whose capacity holds.
    """

    rules: tuple[str, ...] = ()
    latency: timedelta = timedelta(0)
    status: Status | None = None
    body: Body | None = None
    parse: timedelta | None = None
    capacity: str | None = None
    gateway_timeout: timedelta | None = None
    draws: Mapping[str, float] = field(default_factory=dict)


NOTHING = Plan()
"""The plan of a request that meets no rule."""
