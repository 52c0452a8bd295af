"""How many exceptions of a class, with a text in their message, a program's log shows; by default at least one.

The finding is undecided where an upper bound holds and the program wrote no line, or crashed and was not restarted.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from pydantic import ConfigDict, Field, model_validator

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.program_argument import ProgramOccurrences
from devkit.expectations.timing import fetch_window
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.logs.logs import LoggedException
from devkit.observe.logs.timeouts import names_timeout
from located_config.count import times


class ExceptionPattern(ProgramOccurrences):
    """`message` is a part of the message, for example a figure."""

    model_config = ConfigDict(populate_by_name=True)

    class_: str | None = Field(
        default=None,
        alias="class",
        min_length=1,
        description="Class of the exception, with or without its package. Default: any.",
    )
    message: str = Field(default="", description="Part of its message.")

    @model_validator(mode="after")
    def _says_which(self) -> Self:
        if self.class_ is None and not self.message:
            raise ValueError("write class, message or both")
        return self

    @property
    def name(self) -> str:
        """For a message: the class, and the part of the message."""
        return ": ".join(filter(None, (self.class_, f"…{self.message}…" if self.message else "")))

    @property
    def is_presence(self) -> bool:
        """Whether nothing but one such exception is asked for."""
        return self.at_least == 1 and self.at_most is None

    def matches_class(self, name: str) -> bool:
        """Whether a logged class, which has no package, is this one."""
        return self.class_ is None or name == re.split(r"[.$]", self.class_)[-1]

    def looks_for(self, other: "ExceptionPattern") -> bool:
        """Whether both are of the same exceptions of the same program."""
        return (self.program, self.class_, self.message) == (other.program, other.class_, other.message)


@dataclass(frozen=True, kw_only=True)
class _Exception(ExpectationKind):
    name: str = "exception"
    summary: str = (
        "Number of different exceptions in the log of each of the program's processes that are of `class` and whose "
        "text contains `message`. Without a bound: at least one. `at_most` is not observable if the program wrote no "
        "line, or ended with an exit code other than 0 and was not restarted. Another arm has to expect an exception "
        "that is to be absent here, so that a misspelt one is noticed."
    )
    example: str = '{class: RecordTooLargeException, message: "23048294"}'
    argument: Any = ExceptionPattern

    def judge(self, argument: ExceptionPattern, observation: ArmObservation) -> Finding:
        main = observation.main
        expected = argument.name if argument.is_presence else f"{argument} of {argument.name}"
        same_class = [line for line in main.exceptions if argument.matches_class(line.class_name)]
        matching = _matching(argument, observation)
        holds = argument.admits(len(matching))
        shown = matching or ([] if holds else same_class or list(main.exceptions)[-1:])
        if matching:
            often = f" ({times(len(matching))})" if len(matching) > 1 else ""
            measured = f"{shown[0].class_name}: {shown[0].message}{often}"
        else:
            measured = f"{shown[-1].class_name}: {shown[-1].message}" if shown else "no exception"
        if holds and argument.at_most is not None and not main.log_files.has_lines:
            return Finding(self.name, expected, "n/a: not observable: it wrote no line", holds=None)
        if holds and argument.at_most is not None and (code := main.ended_with):
            crashed = f"{measured} until it ended with exit code {code} and was not started again"
            return Finding(self.name, expected, crashed, holds=None)
        return Finding(self.name, expected, measured, holds)

    def check(self, argument: ExceptionPattern, arm: CheckedArm) -> Iterator[Flaw]:
        """An absent exception that may be misspelt."""
        if argument.at_most == 0:
            yield from arm.require_elsewhere(
                self.name,
                lambda other: bool(other.at_least) and argument.looks_for(other),
                f"no exception of {{other}} expects {argument.name}, so it could be misspelt and it would be "
                "overlooked",
                ("class",) if argument.class_ is not None else ("message",),
            )

    def depends_on_time(self, argument: ExceptionPattern, observation: ArmObservation) -> Window | None:
        """A client's timeout does. A missing exception does if a fetch timed out."""
        matching = _matching(argument, observation)
        if not matching:
            return fetch_window(argument, observation)
        is_time_dependent = all(names_timeout(f"{line.class_name}: {line.message}") for line in matching)
        return "commit" if is_time_dependent else None


def _matching(argument: ExceptionPattern, observation: ArmObservation) -> list[LoggedException]:
    return [
        line
        for line in observation.main.exceptions
        if argument.matches_class(line.class_name) and argument.message in line.message
    ]


EXCEPTION = _Exception()
