"""A number of bytes that may differ from page to page, by a function of (seed, rule, key).

The attempt is left out, so that a document has the same length whenever it is fetched.
"""

from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from located_config.size import Size
from mockapi.draws import Draw, log_normal, uniform
from mockapi.values.strict import Strict, spelled_out
from mockapi.wiki.pages.block import MAX_SIZE_BYTES, MIN_SIZE_BYTES

_BOUNDS = Field(ge=MIN_SIZE_BYTES, le=MAX_SIZE_BYTES)


class UniformSize(Strict):
    """Anything from `from` to `to`, all equally likely."""

    from_: Annotated[Size, _BOUNDS] = Field(alias="from", description="Smallest size.")
    to: Annotated[Size, _BOUNDS] = Field(description="Largest size.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.to < self.from_:
            raise PydanticCustomError("size_order", "from is above to", {"hint": "swap them?"})
        return self


class DrawnSize(Strict):
    """One of: `fixed`; log-normal by `p50` and `p99`, never above `cap`; `uniform`."""

    fixed: Annotated[Size, _BOUNDS] | None = Field(default=None, description="The same size for every revision.")
    p50: Annotated[Size, _BOUNDS] | None = Field(
        default=None, description="Median of a log-normal distribution; goes with `p99`."
    )
    p99: Annotated[Size, _BOUNDS] | None = Field(
        default=None, description="99th percentile of a log-normal distribution; goes with `p50`."
    )
    cap: Annotated[Size, _BOUNDS] | None = Field(
        default=None, description="Largest size that the log-normal distribution may give."
    )
    uniform: UniformSize | None = Field(default=None, description="Bounds between which all sizes are equally likely.")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        forms = sum(form is not None for form in (self.fixed, self.p50, self.uniform))
        if forms != 1 or (self.p50 is None) != (self.p99 is None):
            raise PydanticCustomError(
                "size_form", "not a size", {"hint": "one of: a size, p50 with p99 and an optional cap, uniform"}
            )
        if self.cap is not None and self.p50 is None:
            raise PydanticCustomError("size_form", "cap without p50 and p99", {"hint": "it bounds only those"})
        if self.p50 is not None and self.p99 is not None and not 0 < self.p50 <= self.p99:
            raise PydanticCustomError("size_order", "p50 must be above 0 and at most p99", {"hint": "swap them?"})
        if self.p50 is not None and self.cap is not None and self.cap < self.p50:
            raise PydanticCustomError("size_order", "cap is below p50", {"hint": "cap bounds the large end"})
        return self


DocumentSize = Annotated[DrawnSize, spelled_out("fixed", Size | DrawnSize)]
"""Also written as a bare size."""


def drawn_bytes(size: DrawnSize, draw: Draw) -> int:
    """In bytes. The same for each attempt at the same key."""
    if size.fixed is not None:
        return size.fixed
    u = uniform(draw.seed, draw.rule, draw.key, "size")
    if size.uniform is not None:
        low, high = size.uniform.from_, size.uniform.to
        return low + int(u * (high - low + 1))
    if size.p50 is None or size.p99 is None:
        raise AssertionError(size)
    most = MAX_SIZE_BYTES if size.cap is None else size.cap
    return min(round(log_normal(u, size.p50, size.p99)), most)
