"""How often a program logged an event or a text: `log: {event: gave_up, at_most: 0}`, `log: {text: Lost executor}`.

The default bound is at least once. The finding is undecided in three cases: the program wrote nothing to look at; an
upper bound holds, but the program crashed and was not restarted; only workers of separate executors write the event.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from pydantic import ConfigDict, Field, model_validator

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.program_argument import ProgramOccurrences
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.logs.logs import LOGGED
from located_config.near import near_miss
from pipeline.driver.spark_slots import is_local
from pipeline.events import OF_WORKERS


class LogPattern(ProgramOccurrences):
    """Either `event`, the field of that name of a line that is a JSON object, or `text`, a part of any line."""

    model_config = ConfigDict(populate_by_name=True)

    event: str | None = Field(
        default=None, min_length=1, description="Name of the event: the field `event` of a JSON line."
    )
    text: str | None = Field(
        default=None, min_length=1, description="Part of a line of standard output or standard error."
    )
    class_: str | None = Field(
        default=None,
        alias="class",
        min_length=1,
        description="Logger or class of an exception that the line with `text` also names, with or without its "
        "package.",
    )

    @model_validator(mode="after")
    def _event_or_text(self) -> Self:
        if (self.event is None) == (self.text is None):
            raise ValueError("write either event or text")
        if self.class_ is not None and self.text is None:
            raise ValueError(f"class {self.class_!r} belongs to a text: an event has no class")
        return self

    @property
    def name(self) -> str:
        """The event, or the text in quotes with its class."""
        return self.event or f"{self.text!r}{f' of {self.class_}' if self.class_ else ''}"

    def looks_for(self, other: "LogPattern") -> bool:
        """Whether both are of the same lines of the same program."""
        return (self.program, self.event, self.text, self.class_) == (
            other.program,
            other.event,
            other.text,
            other.class_,
        )


@dataclass(frozen=True, kw_only=True)
class _Log(ExpectationKind):
    name: str = "log"
    summary: str = (
        "Number of times that the program wrote the event named `event` on its standard output, as a JSON line; or "
        "number of lines with `text` in its standard output and standard error, which for the pipeline is Spark's log "
        "too, but not that of separate executors. With `class`, the line also names that logger or exception. "
        "For the pipeline, events that only its workers write count too, unless it has `executors`, where they are "
        "not observable. Without a bound: at least once. Not observable if the program wrote no event at all, or no "
        "line; `at_most` is not observable if it ended with an exit code other than 0 and was not restarted. Another "
        "arm has to expect a text that is to be absent here, so that a misspelt one is noticed."
    )
    example: str = "{event: gave_up, at_most: 0}"
    argument: Any = LogPattern

    def judge(self, argument: LogPattern, observation: ArmObservation) -> Finding:
        expected = f"{argument} of {argument.name}"
        if unknown := _why_unknown(argument, observation):
            return Finding(self.name, expected, f"n/a: not observable: {unknown}", holds=None)
        main = observation.main
        if argument.text is None:
            count = main.log.get(argument.name, 0)
        else:
            count = main.log_files.count(argument.text, argument.class_)
        holds, code = argument.admits(count), main.ended_with
        if holds and argument.at_most is not None and code:
            crashed = f"{count} until it ended with exit code {code} and was not started again"
            return Finding(self.name, expected, crashed, holds=None)
        return Finding(self.name, expected, f"{count}", holds, figures=(argument.bounded(count),))

    def check(self, argument: LogPattern, arm: CheckedArm) -> Iterator[Flaw]:
        """An event that the pipeline does not log, and an absent text that may be misspelt."""
        runs_on_spark = arm.program_of(argument).program.runs_on_spark
        if argument.event is not None and runs_on_spark and argument.event not in LOGGED:
            near = near_miss(argument.event, sorted(LOGGED))
            yield Flaw(f"the pipeline writes no event {argument.event!r}; {near}", ("event",), is_playable=True)
        if argument.text is not None and argument.at_most == 0:
            yield from arm.require_elsewhere(
                self.name,
                lambda other: bool(other.at_least) and argument.looks_for(other),
                f"no log of {{other}} expects {argument.name}, so it could be misspelt and it would be overlooked",
                ("text",),
            )

    def depends_on_time(self, argument: LogPattern, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        return "arm"


def _why_unknown(argument: LogPattern, observation: ArmObservation) -> str:
    """Empty where the program's log can be judged."""
    if argument.text is not None:
        return "" if observation.main.log_files.has_lines else "it wrote no line"
    if not observation.main.log:
        return "it wrote no event on standard output"
    if argument.event in OF_WORKERS and not _runs_tasks_itself(observation):
        return "its executors' workers write it, whose output is not read"
    return ""


def _runs_tasks_itself(observation: ArmObservation) -> bool:
    """Whether its workers share its standard output; true for a program without Spark."""
    return is_local(str((observation.main.spark or {}).get("spark.master", "local")))


LOG = _Log()
