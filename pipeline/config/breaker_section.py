"""When requests to an unhealthy wiki, or to the whole endpoint, stop."""

from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from located_config.duration import PositiveDuration
from located_config.share import PositiveShare, Share
from pipeline.config.section import Section


class Breaker(Section):
    """When requests to an unhealthy wiki stop, or to the endpoint behind which all are. Each Python worker has one
    breaker for each wiki, as in resilience4j, and one for the endpoint.

    That of a wiki opens when at least `minimum_requests` have ended within the last `window`, and a share of
    `failure_rate` of these and of the requests under way have failed. That of the endpoint opens when the same holds
    for the requests to all wikis whose own breaker is closed, and at least `minimum_wikis` of them have a failed one. A
    failure is one of the upstream: 5xx, 429, no answer in time, a broken connection, an answer with `Retry-After`, one
    that reports an outage, or one that is not MediaWiki's.

    While the breaker of a wiki is open, its events are deferred and those of other wikis go on, until the deferred
    events of all such wikis exceed `deferred_share` of the ledger's bounds. Then, and while the endpoint's breaker is
    open, the main lane plans no batch. A breaker closes when a probe has succeeded: one request, sent after `open_for`;
    the time doubles with each probe up to `open_for_cap`, and is at least the upstream's `Retry-After`, up to the cap.
    Then each worker sends `trial_requests` first, most of which have to succeed. Without deferral, and with
    `policy: none`, there is no breaker; an outage then fills the ledger up to its bound.
    """

    policy: Literal["wait", "none"] = Field(
        default="wait",
        description="`wait` stops requests to an unhealthy wiki or endpoint until it is healthy again. With "
        "`none`, or without deferral, there is no breaker.",
    )
    window: PositiveDuration = Field(default=timedelta(seconds=30), description="Time over which requests count.")
    minimum_requests: PositiveInt = Field(
        default=20, description="Number of requests that must have ended in the window before the breaker can open."
    )
    failure_rate: PositiveShare = Field(
        default=0.5, description="Share of failed requests in the window from which on the breaker opens."
    )
    minimum_wikis: Annotated[int, Field(ge=2)] = Field(
        default=5,
        description="Number of wikis that must have a failed request in the window before the endpoint's breaker can "
        "open.",
    )
    deferred_share: Share = Field(
        default=0.25,
        description="Share of `deferral.max_entries` and of `deferral.max_bytes` that deferred events of wikis with an "
        "open breaker may take together; above it the main lane waits. With `0%` it waits for each such wiki.",
    )
    trial_requests: PositiveInt = Field(
        default=5,
        description="Number of requests that each Python worker sends first after a successful probe; most of "
        "them have to succeed.",
    )
    open_for: PositiveDuration = Field(
        default=timedelta(seconds=10),
        description="Time from the opening of the breaker to the first probe; it doubles after each probe that fails.",
    )
    open_for_cap: PositiveDuration = Field(default=timedelta(minutes=2), description="Longest time between two probes.")

    @model_validator(mode="after")
    def _cap_is_not_below(self) -> Self:
        if self.open_for_cap < self.open_for:
            raise ValueError(
                f"breaker.open_for_cap {self.open_for_cap.total_seconds():g} s is below breaker.open_for "
                f"{self.open_for.total_seconds():g} s: raise the cap, or begin with less"
            )
        return self
