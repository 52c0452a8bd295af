"""Whether a process of a program reported a failure that contains a text."""

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.program_argument import ProgramArgument
from devkit.expectations.timing import fetch_window, is_time_dependent
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.observable import Observable
from located_config.count import times


class FailurePattern(ProgramArgument):
    """`message` is a part of what the process said when it failed."""

    message: str = Field(min_length=1, description="Part of what the program reported when it failed.")


@dataclass(frozen=True, kw_only=True)
class _Failure(ExpectationKind):
    name: str = "failure"
    summary: str = "A process of the program reported a failure whose text contains `message`."
    example: str = "{message: no commit within}"
    argument: Any = FailurePattern
    needs: frozenset[Observable] = frozenset({"words"})

    def judge(self, argument: FailurePattern, observation: ArmObservation) -> Finding:
        matching = _matching(argument, observation)
        if matching:
            often = f" ({times(len(matching))})" if len(matching) > 1 else ""
            measured = f"{matching[0]}{often}"
        else:
            measured = observation.main.failures[-1] if observation.main.failures else "no failure"
        return Finding(self.name, f"…{argument.message}…", measured, bool(matching))

    def depends_on_time(self, argument: FailurePattern, observation: ArmObservation) -> Window | None:
        """A stall or a client's timeout does. A missing failure does if a fetch timed out."""
        matching = _matching(argument, observation)
        if not matching:
            return fetch_window(argument, observation)
        return "commit" if all(is_time_dependent(text, observation) for text in matching) else None


def _matching(argument: FailurePattern, observation: ArmObservation) -> list[str]:
    return [text for text in observation.main.failures if argument.message in text]


FAILURE = _Failure()
