"""A length of time that may differ from request to request, by a function of (seed, rule, key, attempt)."""

from datetime import timedelta
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from located_config.duration import Duration, PositiveDuration
from mockapi.draws import Draw, empirical, log_normal
from mockapi.values.strict import Strict


class Uniform(Strict):
    """Anything from `from` to `to`, all equally likely."""

    from_: Duration = Field(alias="from", description="Shortest time.")
    to: PositiveDuration = Field(description="Longest time.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.to < self.from_:
            raise PydanticCustomError("time_order", "from is above to", {"hint": "swap them?"})
        return self


class Bucket(Strict):
    """`count` measured values, above the bucket before (the first: above 0) and up to `up_to`."""

    up_to: PositiveDuration = Field(
        description="Longest time of the bucket; the bucket before ends where this one begins, the first begins at 0."
    )
    count: int = Field(ge=0, strict=True, description="Number of measured values in the bucket.")


_FORMS = ("fixed", "p50", "uniform", "empirical", "never")


class DrawnTime(Strict):
    """One of: `fixed`; log-normal by `p50` and `p99`; `uniform`; `empirical`, a histogram of measured values; `never`,
    which is for ever. All but `fixed` and `never` may have a `cap`, which no time exceeds.
    """

    fixed: Duration | None = Field(default=None, description="The same time for every request.")
    p50: PositiveDuration | None = Field(
        default=None, description="Median of a log-normal distribution; goes with `p99`."
    )
    p99: PositiveDuration | None = Field(
        default=None, description="99th percentile of a log-normal distribution; goes with `p50`."
    )
    uniform: Uniform | None = Field(default=None, description="Bounds between which all times are equally likely.")
    empirical: tuple[Bucket, ...] | None = Field(
        default=None, description="Histogram of measured times, its buckets in ascending order."
    )
    never: Literal[True] | None = Field(default=None, description="Wait until the client disconnects.")
    cap: PositiveDuration | None = Field(default=None, description="Longest time that a distribution may give.")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.p50 is None) != (self.p99 is None):
            raise PydanticCustomError("time_form", "p50 and p99 go together", {"hint": "give both, or a duration"})
        given = [name for name in _FORMS if getattr(self, name) is not None]
        if len(given) != 1:
            raise PydanticCustomError(
                "time_form",
                "not a time",
                {"hint": "one of: a duration, p50 with p99, uniform, empirical, never; with an optional cap"},
            )
        if self.cap is not None and given[0] in {"fixed", "never"}:
            raise PydanticCustomError("time_form", "cap without a distribution", {"hint": f"{given[0]} needs no cap"})
        return self

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.p50 is not None and self.p99 is not None and self.p50 > self.p99:
            raise PydanticCustomError("time_order", "p50 must be at most p99", {"hint": "swap them?"})
        if self.p50 is not None and self.cap is not None and self.cap < self.p50:
            raise PydanticCustomError("time_order", "cap is below p50", {"hint": "cap bounds the slow end"})
        if self.empirical is not None:
            bounds = [bucket.up_to for bucket in self.empirical]
            if any(later <= earlier for earlier, later in pairwise(bounds)):
                raise PydanticCustomError("time_order", "up_to does not ascend", {"hint": "sort the buckets"})
            if not any(bucket.count for bucket in self.empirical):
                raise PydanticCustomError("time_form", "a histogram without values", {"hint": "give counts above 0"})
        return self


def _finite(time: DrawnTime) -> DrawnTime:
    if time.never:
        raise PydanticCustomError("time_form", "never is no time here", {"hint": "a time that ends, such as 5s"})
    return time


def _spelled_out(value: object) -> object:
    if value is None or isinstance(value, dict | Strict):
        return value
    return {"never": True} if value == "never" else {"fixed": value}


Time = Annotated[
    DrawnTime, BeforeValidator(_spelled_out, json_schema_input_type=Duration | Literal["never"] | DrawnTime)
]
"""Also written as a bare duration, or as `never`."""

FiniteTime = Annotated[Time, AfterValidator(_finite)]
"""A time that ends."""


def drawn(time: DrawnTime, draw: Draw, purpose: str) -> timedelta | None:
    """The time of one request, None for ever; `purpose` keeps the draws of different faults of one rule independent."""
    return None if time.never else drawn_end(time, draw, purpose)


def drawn_end(time: DrawnTime, draw: Draw, purpose: str) -> timedelta:
    """The same of a time that is not `never`."""
    if time.fixed is not None:
        return time.fixed
    length = timedelta(seconds=_seconds(time, draw.uniform(purpose)))
    return min(length, time.cap) if time.cap is not None else length


def _seconds(time: DrawnTime, u: float) -> float:
    if time.p50 is not None and time.p99 is not None:
        return log_normal(u, time.p50.total_seconds(), time.p99.total_seconds())
    if time.uniform is not None:
        low, high = time.uniform.from_.total_seconds(), time.uniform.to.total_seconds()
        return low + u * (high - low)
    buckets = time.empirical or ()
    return empirical(u, [bucket.up_to.total_seconds() for bucket in buckets], [bucket.count for bucket in buckets])


def noted(name: str, time: timedelta | None) -> dict[str, float]:
    """The draw for the journal, in seconds under `name`; for ever is -1."""
    return {name: -1.0 if time is None else time.total_seconds()}
