"""A length of time that may differ from request to request."""

from datetime import timedelta
from typing import Self

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from mockapi.rules.duration import Duration
from mockapi.rules.strict import Strict


class DrawnTime(Strict):
    """`fixed`, or log-normal by `p50` and `p99`, never above `cap`."""

    fixed: Duration | None = None
    p50: Duration | None = None
    p99: Duration | None = None
    cap: Duration | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.fixed is None) == (self.p50 is None) or (self.p50 is None) != (self.p99 is None):
            raise PydanticCustomError(
                "time_form", "not a time", {"hint": "either a duration, or both p50 and p99 with an optional cap"}
            )
        if self.fixed is not None and self.cap is not None:
            raise PydanticCustomError("time_form", "cap without p50 and p99", {"hint": "a fixed time needs no cap"})
        if self.p50 is not None and self.p99 is not None and not timedelta(0) < self.p50 <= self.p99:
            raise PydanticCustomError("time_order", "p50 must be above 0 and at most p99", {"hint": "swap them?"})
        if self.p50 is not None and self.cap is not None and self.cap < self.p50:
            raise PydanticCustomError("time_order", "cap is below p50", {"hint": "cap bounds the slow end"})
        return self
