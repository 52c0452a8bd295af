"""Whether the program refused a start with a text: that of `tried_first`, or else the arm's own."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.observe.arm_observation import ArmObservation


class RefusalPattern(BaseModel):
    """`message` is a part of what the pipeline said when it refused to start."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    message: str = Field(
        min_length=1, description="Part of what the program reported.", examples=["two metrics of one name"]
    )


@dataclass(frozen=True, kw_only=True)
class _Refused(ExpectationKind):
    name: str = "refused"
    summary: str = (
        "A start was refused, and the program's report contains `message`. It is the start of `tried_first` if "
        "there is one, else the arm's own."
    )
    example: str = "{message: metric}"
    argument: Any = RefusalPattern

    def judge(self, argument: RefusalPattern, observation: ArmObservation) -> Finding:
        expected, tried = f"…{argument.message}…", observation.tried_first
        refusal = observation.main.refusal if tried is None else tried.refusal
        if refusal is None:
            return Finding(self.name, expected, "it started", holds=False)
        return Finding(self.name, expected, refusal, argument.message in refusal)

    def check(self, argument: RefusalPattern, arm: CheckedArm) -> Iterator[Flaw]:  # noqa: ARG002
        """A command, whose refusal looks like a crash."""
        if arm.main.program.command:
            yield Flaw("the exit codes of a command are its own, so nothing shows that it refused its start")


REFUSED = _Refused()
