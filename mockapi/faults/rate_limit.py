"""Rate limit: a token bucket in front of everything; who finds it empty gets 429 and is told when to come again.

The bucket holds `burst` tokens and gets `rate` more a second; a request takes one. `Retry-After` is the time until the
next token, in whole seconds, rounded up. Which request finds the bucket empty depends on when they come.
"""

from dataclasses import replace
from typing import Literal

from pydantic import Field

from located_config.rate import Rate
from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.rules.proof import Met
from mockapi.upstream.buckets import Limit
from mockapi.values.strict import Strict

TOO_MANY = 429


class RateLimit(Strict):
    """`rate` as requests a time (`20/s`, `200/m`, `1000/h`); by `client` each address has a bucket of its own."""

    rate: Rate = Field(
        description="Number of requests a second, minute or hour that are answered: `20/s`, `200/m`, `1000/h`."
    )
    burst: int = Field(
        default=1, ge=1, strict=True, description="Number of requests that may come at once after a pause."
    )
    by: Literal["all", "client"] = Field(
        default="all", description="Whether all clients share one limit, or each address has its own."
    )


def apply(plan: Plan, limit: RateLimit, draw: Draw) -> Plan:
    """Adds the bucket to those that the request has to pass."""
    bucket = Limit(limit.rate, limit.burst, by_client=limit.by == "client")
    return replace(plan, limits=(*plan.limits, (draw.rule, bucket)))


def inaction(limit: RateLimit, met: Met) -> str:  # noqa: ARG001 - whatever the rate is
    """Nothing once a client was refused."""
    return "" if met.by_status.get(str(TOO_MANY)) else f"no answer was {TOO_MANY}"


FAULT = Fault(
    name="rate_limit",
    group="proxy",
    summary="a token bucket; who finds it empty gets 429 with Retry-After",
    docs="a token bucket for `all` or each `client`; who finds it empty gets 429 and a `Retry-After` of the true wait",
    takes=RateLimit,
    example={"rate": "20/s", "burst": 40, "by": "client"},
    apply=apply,
    deterministic=False,
    inaction=inaction,
)
