"""When an unhealthy wiki is not asked."""

from datetime import timedelta
from typing import Literal, Self

from pydantic import Field, PositiveInt, model_validator

from located_config.duration import PositiveDuration
from located_config.share import PositiveShare
from pipeline.settings.section import Section


class Breaker(Section):
    """When an unhealthy wiki is not asked, for each Python worker; the model is that of resilience4j.

    It opens when of the requests of the last `window` and those under way a share of `failure_rate` failed, and at
    least `minimum_requests` have ended. What fails is the upstream's fault: 5xx, 429, no answer in time, a broken
    connection, an answer with `Retry-After` or one that reports an outage. Events that have not begun are deferred
    then, and the main lane plans no batch before a probe of its own succeeds: one request after `open_for`, doubled
    each time up to `open_for_cap`, and not before the upstream's `Retry-After`, as far as the cap goes. Then
    `trial_requests` of each worker go first, and most of them have to succeed. It needs deferral: without that, and
    with `none`, there is no breaker, and an outage fills the ledger up to its bound.
    """

    policy: Literal["wait", "none"] = Field(
        default="wait",
        description="`wait` stops asking an unhealthy wiki and waits. With `none`, or without deferral, there is "
        "no breaker.",
    )
    window: PositiveDuration = Field(
        default=timedelta(seconds=30), description="Time over which requests to a wiki count."
    )
    minimum_requests: PositiveInt = Field(
        default=20, description="Number of requests that must have ended in the window before the breaker can open."
    )
    failure_rate: PositiveShare = Field(
        default=0.5, description="Share of failed requests in the window from which on the breaker opens."
    )
    trial_requests: PositiveInt = Field(
        default=5,
        description="Number of requests of each Python worker that go first after a successful probe; most of "
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
