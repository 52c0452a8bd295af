"""One line of a scenario's `timeline:`: which fault, from when, for how long, in which arms."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from devkit.faults.condition import RequestSeen, When
from devkit.faults.do import Do
from devkit.observe.arm_role import ROLES
from located_config.duration import Duration, format_duration


class TimelineItem(BaseModel):
    """A fault and its time. `at` counts from the arm's start; without `for` it lasts until the arm ends."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    name: Annotated[str, StringConstraints(min_length=1, max_length=60)] = Field(
        description="Name of the fault in the timeline, the report and the evidence; each needs its own.",
        examples=["broker still"],
    )
    do: Do = Field(
        description="A fault on a part, by name, with its parameters.",
        examples=[{"pause": {"part": "kafka"}}],
    )
    at: Duration | None = Field(
        default=None, description="Begins after this time from the arm's start. Write either `at` or `when`."
    )
    when: When | None = Field(
        default=None,
        description="Begins when this condition on what is observed holds. A figure with a colon, `{lag: 500}`, "
        "means at least that.",
        examples=["lag > 500"],
    )
    after: Duration | None = Field(
        default=None,
        description="Begins this long after `when` first held, whether or not it still does. Default: at once.",
        examples=["2s"],
    )
    for_: Annotated[Duration, Field(gt=timedelta(0))] | None = Field(
        default=None, alias="for", description="Ends after this time. Default: with its arm."
    )
    arms: Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        default=ROLES,
        description="Arms in which it acts, by name or by role: a role means every arm that has it.",
        examples=[["incident"]],
    )

    @model_validator(mode="after")
    def _one_beginning(self) -> Self:
        if self.at is not None and self.when is not None:
            raise ValueError("`at` and `when` both say when it begins, and both are given; keep one")
        if self.at is None and self.when is None:
            raise ValueError("says when it begins by one of `at` (a time) and `when` (a condition)")
        if self.after is not None and self.at is not None:
            raise ValueError("`after` counts from when `when` holds, and `at` is given; keep one of `at` and `after`")
        if self.after is not None and isinstance(self.when, RequestSeen):
            raise ValueError("the request of `when` waits until the fault acts; leave `after` out")
        if self.for_ is not None and not self.do.lasts:
            raise ValueError(f"{self.do.name} lasts as long as it takes; leave `for` out")
        return self

    @property
    def proxied(self) -> frozenset[str]:
        """The parts that need a proxy before them, for what is done or for what is waited for."""
        watched = {self.when.part} if isinstance(self.when, RequestSeen) else set()
        return frozenset({need.part for need in self.do.needs() if need.proxied} | watched)

    @property
    def named(self) -> frozenset[str]:
        """The parts that programs need to find by a name."""
        return frozenset(need.part for need in self.do.needs() if need.named)

    @property
    def beginning(self) -> str:
        """In a sentence about the item: `at 5s`, `when lag > 500`, `2s after lag > 500`."""
        if self.at is not None:
            return f"at {format_duration(self.at)}"
        return f"when {self.when}" if self.after is None else f"{format_duration(self.after)} after {self.when}"

    def __str__(self) -> str:
        lasts = "" if self.for_ is None else f", for {format_duration(self.for_)}"
        return f"{self.do}, {self.beginning}{lasts}"


def _distinct(items: Sequence[TimelineItem]) -> Sequence[TimelineItem]:
    names = [item.name for item in items]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"each needs a name of its own; given twice: {', '.join(repeated)}")
    return items


Timeline = Annotated[tuple[TimelineItem, ...], AfterValidator(_distinct)]
"""The items of a scenario, each of its own name."""
