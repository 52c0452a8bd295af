"""A length of time that may differ from request to request."""

from datetime import timedelta
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from mockapi.rules.duration import Duration, PositiveDuration
from mockapi.rules.strict import Strict


class Uniform(Strict):
    """Anything from `from` to `to`, all equally likely."""

    from_: Duration = Field(alias="from")
    to: PositiveDuration

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.to < self.from_:
            raise PydanticCustomError("time_order", "from is above to", {"hint": "swap them?"})
        return self


class Normal(Strict):
    """The bell curve around `mean`; what would be below 0 is 0."""

    mean: Duration
    sd: PositiveDuration


class Bucket(Strict):
    """`count` measured values, above the bucket before (the first: above 0) and up to `up_to`."""

    up_to: PositiveDuration
    count: int = Field(ge=0, strict=True)


_FORMS = ("fixed", "p50", "uniform", "normal", "empirical", "never")


class DrawnTime(Strict):
    """One of: `fixed`; log-normal by `p50` and `p99`; `uniform`; `normal`; `empirical`, a histogram of measured values;
    `never`, which is for ever. All but `fixed` and `never` may have a `cap`, which no time exceeds.
    """

    fixed: Duration | None = None
    p50: PositiveDuration | None = None
    p99: PositiveDuration | None = None
    uniform: Uniform | None = None
    normal: Normal | None = None
    empirical: tuple[Bucket, ...] | None = None
    never: Literal[True] | None = None
    cap: PositiveDuration | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.p50 is None) != (self.p99 is None):
            raise PydanticCustomError("time_form", "p50 and p99 go together", {"hint": "give both, or a duration"})
        given = [name for name in _FORMS if getattr(self, name) is not None]
        if len(given) != 1:
            raise PydanticCustomError(
                "time_form",
                "not a time",
                {"hint": "one of: a duration, p50 with p99, uniform, normal, empirical, never; with an optional cap"},
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

    @property
    def longest(self) -> timedelta | None:
        """What no draw exceeds; None for no bound."""
        if self.cap is not None:
            return self.cap
        if self.empirical is not None:
            return self.empirical[-1].up_to
        return self.fixed if self.fixed is not None else self.uniform.to if self.uniform is not None else None


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
