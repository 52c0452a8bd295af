"""How often a program wrote an event on its standard output: `log: {event: order_violation, at_most: 0}`.

Without a bound it is at least once. A program that wrote no event at all may have none to write, so it cannot be
judged.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import Field, model_validator

from devkit.expectations.base import NOTHING, Finding
from devkit.expectations.of_program import ProgramCount
from devkit.headroom.shortage import Window
from devkit.observe.arm import ArmObservation
from devkit.observe.sight import Sight


class LoggedEvent(ProgramCount):
    """`event` is the name, the field `event` of a line that is a JSON object."""

    event: str = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _once(cls, value: object) -> object:
        is_bare = isinstance(value, dict) and value.keys().isdisjoint(("at_least", "at_most"))
        return {**value, "at_least": 1} if isinstance(value, dict) and is_bare else value


@dataclass(frozen=True)
class _Log:
    name: str = "log"
    summary: str = (
        "Number of times that the program wrote the event named `event` on its standard output, as a JSON line. "
        "Without a bound: at least once. Not observable of a program that wrote no event at all."
    )
    example: str = "{event: order_violation, at_most: 0}"
    argument: Any = LoggedEvent
    needs: frozenset[Sight] = NOTHING

    def judge(self, argument: LoggedEvent, observation: ArmObservation) -> Finding:
        expected, count = f"{argument} of {argument.event}", observation.log.get(argument.event, 0)
        if not observation.log:
            unknown = "n/a: not observable: it wrote no event on standard output"
            return Finding(self.name, expected, unknown, holds=None)
        return Finding(self.name, expected, f"{count}", argument.admits(count))

    def depends_on_time(self, argument: LoggedEvent, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        return "arm"


LOG = _Log()
