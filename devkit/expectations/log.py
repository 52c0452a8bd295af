"""How often a program wrote an event: `log: {event: gave_up, at_most: 0}`.

The default bound is at least once. The finding is undecided in three cases: the program wrote no event at all; an upper
bound holds, but the program crashed and was not restarted; only workers of separate executors write the event.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.program_argument import ProgramOccurrences
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.logs.logs import LOGGED
from located_config.near import near_miss
from pipeline.driver.spark_slots import is_local
from pipeline.events import OF_WORKERS


class LoggedEvent(ProgramOccurrences):
    """`event` is the name, the field `event` of a line that is a JSON object."""

    event: str = Field(min_length=1, description="Name of the event: the field `event` of a JSON line.")


@dataclass(frozen=True, kw_only=True)
class _Log(ExpectationKind):
    name: str = "log"
    summary: str = (
        "Number of times that the program wrote the event named `event` on its standard output, as a JSON line. "
        "For the pipeline, events that only its workers write count too, unless it has `executors`, where they are "
        "not observable. Without a bound: at least once. Not observable if the program wrote no event at all; "
        "`at_most` is not observable if it ended with an exit code other than 0 and was not restarted."
    )
    example: str = "{event: gave_up, at_most: 0}"
    argument: Any = LoggedEvent

    def judge(self, argument: LoggedEvent, observation: ArmObservation) -> Finding:
        expected, count = f"{argument} of {argument.event}", observation.main.log.get(argument.event, 0)
        if not observation.main.log:
            unknown = "n/a: not observable: it wrote no event on standard output"
            return Finding(self.name, expected, unknown, holds=None)
        if argument.event in OF_WORKERS and not _runs_tasks_itself(observation):
            unknown = "n/a: not observable: its executors' workers write it, whose output is not read"
            return Finding(self.name, expected, unknown, holds=None)
        holds, code = argument.admits(count), observation.main.ended_with
        if holds and argument.at_most is not None and code:
            crashed = f"{count} until it ended with exit code {code} and was not started again"
            return Finding(self.name, expected, crashed, holds=None)
        return Finding(self.name, expected, f"{count}", holds, figures=(argument.bounded(count),))

    def check(self, argument: LoggedEvent, arm: CheckedArm) -> Iterator[Flaw]:
        """An event that the pipeline does not log."""
        if arm.program_of(argument).program.runs_on_spark and argument.event not in LOGGED:
            near = near_miss(argument.event, sorted(LOGGED))
            yield Flaw(f"the pipeline writes no event {argument.event!r}; {near}", ("event",), is_playable=True)

    def depends_on_time(self, argument: LoggedEvent, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        return "arm"


def _runs_tasks_itself(observation: ArmObservation) -> bool:
    """Whether its workers share its standard output; true for a program without Spark."""
    return is_local(str((observation.main.spark or {}).get("spark.master", "local")))


LOG = _Log()
