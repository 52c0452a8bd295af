"""Why an arm ended, as a value: what decides anything reads this, what is shown to a person reads its text."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

ConditionName = Literal["drained", "restarts", "replays"]


class _End(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EndByCondition(_End):
    """A condition of `until.any` was reached. `reached` has the count of each thing it asks for; drained is 1."""

    by: Literal["condition"] = "condition"
    reached: dict[ConditionName, int]

    @property
    def text(self) -> str:
        return " and ".join(name if name == "drained" else f"{name} {count}" for name, count in self.reached.items())


class EndByDeadline(_End):
    """No condition was reached in time."""

    by: Literal["deadline"] = "deadline"
    deadline_s: float

    @property
    def text(self) -> str:
        return f"deadline of {self.deadline_s:g}s"


ArmEnd = Annotated[EndByCondition | EndByDeadline, Field(discriminator="by")]
