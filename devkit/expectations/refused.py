"""Whether the start that was tried first (`tried_first`) was refused, with a text in the pipeline's words."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from devkit.expectations.base import NOTHING, Finding
from devkit.headroom.shortage import Window
from devkit.observe.arm import ArmObservation
from devkit.observe.sight import Sight


class RefusalPattern(BaseModel):
    """`message` is a part of what the pipeline said when it refused to start."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    message: str = Field(min_length=1)


@dataclass(frozen=True)
class _Refused:
    name: str = "refused"
    summary: str = "The start that was `tried_first` was refused, with `message` as part of what the program reported."
    example: str = "{message: metric}"
    argument: Any = RefusalPattern
    needs: frozenset[Sight] = NOTHING

    def judge(self, argument: RefusalPattern, observation: ArmObservation) -> Finding:
        expected, tried = f"…{argument.message}…", observation.tried_first
        if tried is None:
            return Finding(self.name, expected, "n/a: no start was tried first", holds=None)
        if tried.refusal is None:
            return Finding(self.name, expected, "it started", holds=False)
        return Finding(self.name, expected, tried.refusal, argument.message in tried.refusal)

    def depends_on_time(self, argument: RefusalPattern, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        return None


REFUSED = _Refused()
