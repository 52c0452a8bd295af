"""What makes the incident, as a scenario names it: each of it has to be shown in the run, else there is no verdict."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from located_config.duration import PositiveDuration, format_duration


class NamedCause(BaseModel):
    """One of: a fault that acts, any of the timeline's faults, a setting in which incident and fix differ, a start that
    is refused, commits that are ahead in event time.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fault: Annotated[str, Field(min_length=1)] | None = Field(
        default=None,
        description="Name of a rule of the mock or of a fault of the timeline. It must be seen to act.",
        examples=["huge page"],
    )
    absent_in: tuple[str, ...] = Field(
        default=(),
        description="Fixed arms, or `fixed` for all of them, that do not have the `fault`, as its absence is the fix. "
        "Without it a fixed arm must have each fault of an incident arm.",
        examples=[["fixed"]],
    )
    timeline: Literal["any"] | None = Field(
        default=None,
        description="`any`: in each arm that has some, one of the timeline's faults must be seen to act, whichever it "
        "is.",
    )
    differs: Annotated[str, Field(min_length=1)] | None = Field(
        default=None,
        description="Key in which an incident arm and a fixed arm differ, as the report names it. Each program must "
        "confirm the value of its arm in its log; of `supervisor` keys the supervisor must have acted; of `steps` "
        "all must have been taken; a variable of `environment` and `arguments` are looked up in the process.",
        examples=["record_limit.policy"],
    )
    refused: Annotated[str, Field(min_length=1)] | None = Field(
        default=None,
        description="Part of what a program reports when it refuses a start that is `tried_first`.",
        examples=["two metrics of one name"],
    )

    event_time_skew: PositiveDuration | None = Field(
        default=None,
        description="Event time by which the newest committed event must have been newer than the oldest one that "
        "was not committed, at one look at least, in any arm. It needs `event_times: {published: …}`.",
        examples=["2m"],
    )

    @model_validator(mode="after")
    def _check_one_key(self) -> Self:
        kinds = [name for name in type(self).model_fields if name != "absent_in"]
        if sum(getattr(self, name) is not None for name in kinds) != 1:
            raise ValueError(f"write one of {', '.join(kinds)}")
        if self.absent_in and self.fault is None:
            raise ValueError("absent_in says where a fault is absent; write it beside `fault`")
        return self

    def __str__(self) -> str:
        if self.fault is not None:
            absent = f", absent in {', '.join(self.absent_in)}" if self.absent_in else ""
            return f"fault {self.fault!r}{absent}"
        if self.timeline is not None:
            return "any fault of the timeline"
        if self.event_time_skew is not None:
            return f"event-time skew of {format_duration(self.event_time_skew)}"
        return f"differs {self.differs}" if self.differs is not None else f"refused: {self.refused}"
