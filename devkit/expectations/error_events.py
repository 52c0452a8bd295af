"""How many source events ended as error events, of which type, and how large the largest of those is.

Without a bound it is at least one; with `max_size` alone, any number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, model_validator

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.bounds import Bytes, Count, or_exactly
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.error_types import unknown_error_type
from devkit.observe.kafka.error_events import of_type
from located_config.count import counted
from located_config.size import Size, format_size


class ErrorEventPattern(Count):
    """`type` is the field `error_type` of the error event; without it all types count together."""

    type: Annotated[str, StringConstraints(min_length=1)] | None = Field(
        default=None, description="Field `error_type` of the error events that count. Default: all types together."
    )
    max_size: Annotated[Size, Field(gt=0)] | None = Field(
        default=None, description="Size that the value of none of their records exceeds."
    )

    @model_validator(mode="before")
    @classmethod
    def _default_bound(cls, value: object) -> object:
        if not isinstance(value, dict) or not value.keys().isdisjoint(("at_least", "at_most")):
            return value
        return {**value, "at_least": 0 if "max_size" in value else 1}  # a size alone bounds no number

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        if self.at_most == 0 and self.max_size is not None:
            raise ValueError("no error event has a size; leave max_size out, or allow some")
        return self

    @property
    def always_holds(self) -> bool:
        """A size alone is a bound."""
        return super().always_holds and self.max_size is None

    def __str__(self) -> str:
        parts = [super().__str__()] if self.at_least or self.at_most is not None else []
        parts += [f"of type {self.type}"] if self.type else []
        parts += [f"none larger than {format_size(self.max_size)}"] if self.max_size is not None else []
        return ", ".join(parts)


@dataclass(frozen=True, kw_only=True)
class _ErrorEvents(ExpectationKind):
    name: str = "error_events"
    summary: str = (
        "Number of source events that ended as an error event of `type` (default: any); `max_size` is a bound on "
        "the largest of these records' values. Without a bound: at least one."
    )
    example: str = "{type: revision_not_found, at_least: 1, max_size: 4KiB}"
    argument: Any = Annotated[ErrorEventPattern, or_exactly(ErrorEventPattern, int, int)]

    def judge(self, argument: ErrorEventPattern, observation: ArmObservation) -> Finding:
        if hidden := observation.hidden:
            return Finding(self.name, str(argument), f"n/a: {'; '.join(hidden)}", holds=None)
        kinds = of_type(observation.error_events, argument.type)
        events, largest = sum(kind.events for kind in kinds), max((kind.max_bytes for kind in kinds), default=None)
        holds: bool | None = argument.admits(events)
        measured = f"{events}"
        if largest is not None:
            measured += f", the largest of {counted(largest, 'byte')}"
        elif counts := [f"{kind.events} of {kind.type or 'no type'}" for kind in observation.error_events]:
            measured += f"; there are {', '.join(counts)}"
        if holds and argument.max_size is not None:
            holds = None if largest is None else largest <= argument.max_size
            measured = measured if largest is not None else f"n/a: there is none to measure ({measured})"
        figures = [argument.bounded(events)] if argument.at_least or argument.at_most is not None else []
        if largest is not None and argument.max_size is not None:
            figures.append(Bytes(at_most=argument.max_size).bounded(largest, "largest"))
        return Finding(self.name, str(argument), measured, holds, figures=tuple(figures))

    def check(self, argument: ErrorEventPattern, arm: CheckedArm) -> Iterator[Flaw]:
        """More events than the traffic has, and a type that the pipeline does not have."""
        events = arm.traffic.event_count
        if (argument.at_least or 0) > events:
            yield Flaw(f"its traffic has {counted(events, 'event')}", ("at_least",))
        wrong = unknown_error_type(argument.type) if argument.type and arm.main.program.runs_on_spark else ""
        if wrong:
            yield Flaw(wrong, ("type",), is_playable=True)

    def depends_on_time(self, argument: ErrorEventPattern, observation: ArmObservation) -> Window | None:
        """If a fetch timed out, or if not all events have ended and the bound is not reached."""
        if observation.audit.timed_out:
            return "commit"
        kinds = of_type(observation.error_events, argument.type)
        events = sum(kind.events for kind in kinds)
        is_reached = argument.at_most is None and events >= (argument.at_least or 0) and argument.max_size is None
        return None if observation.drained or is_reached else "arm"


ERROR_EVENTS = _ErrorEvents()
