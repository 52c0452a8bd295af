"""Whether a program's log shows an exception of a class, with a text in its message."""

import re
from dataclasses import dataclass
from typing import Any

from pydantic import ConfigDict, Field

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.program_argument import ProgramArgument
from devkit.expectations.timing import fetch_window
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.logs.logs import LoggedException
from devkit.observe.logs.timeouts import names_timeout
from located_config.count import times


class ExceptionPattern(ProgramArgument):
    """`message` is a part of the message, for example a figure."""

    model_config = ConfigDict(populate_by_name=True)

    class_: str = Field(alias="class", description="Class of the exception, with or without its package.")
    message: str = Field(default="", description="Part of its message.")

    def matches_class(self, name: str) -> bool:
        """Whether a logged class, which has no package, is this one."""
        return name == re.split(r"[.$]", self.class_)[-1]


@dataclass(frozen=True, kw_only=True)
class _Exception(ExpectationKind):
    name: str = "exception"
    summary: str = "The program's log has an exception of `class` whose text contains `message`."
    example: str = '{class: RecordTooLargeException, message: "23048294"}'
    argument: Any = ExceptionPattern

    def judge(self, argument: ExceptionPattern, observation: ArmObservation) -> Finding:
        expected = f"{argument.class_}: …{argument.message}…" if argument.message else argument.class_
        same_class = [line for line in observation.main.exceptions if argument.matches_class(line.class_name)]
        matching = _matching(argument, observation)
        if matching:
            often = f" ({times(len(matching))})" if len(matching) > 1 else ""
            return Finding(self.name, expected, f"{matching[0].class_name}: {matching[0].message}{often}", holds=True)
        seen = same_class or list(observation.main.exceptions)
        measured = f"{seen[-1].class_name}: {seen[-1].message}" if seen else "no exception"
        return Finding(self.name, expected, measured, holds=False)

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
