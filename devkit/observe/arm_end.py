"""Why an arm ended: fields for code that decides by it, and a text for a person."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

_TRUE = ("drained", "gave_up")
_SECONDS = ("elapsed", "running_for")


class _End(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EndByCondition(_End):
    """The conditions of `until` were reached. `reached` has each thing that they ask for and how far that was: a count,
    the seconds that elapsed, or for which it ran, the value of `metric NAME`, the count of `log EVENT`; what is true
    is 1.
    """

    by: Literal["condition"] = "condition"
    reached: dict[str, int | float]

    @property
    def text(self) -> str:
        """All keys of the condition: `drained`, or `restarts 2 and replays 1`."""
        return " and ".join(_condition_text(name, count) for name, count in self.reached.items())


def _condition_text(name: str, count: float) -> str:
    if name in _TRUE:
        return name.replace("_", " ")
    key, *written = name.split(" ", 1)  # the name of a metric or an event stays as it is
    return " ".join([key.replace("_", " "), *written, f"{count:g}"]) + ("s" if name in _SECONDS else "")


class EndByDeadline(_End):
    """No condition was reached in time."""

    by: Literal["deadline"] = "deadline"
    deadline_s: float

    @property
    def text(self) -> str:
        """With the effective deadline: that of a stretched run is stretched."""
        return f"deadline of {self.deadline_s:g}s"


class EndByRefusal(_End):
    """The main program refused its start."""

    by: Literal["refusal"] = "refusal"

    @property
    def text(self) -> str:
        """The arm's `refusal` has the reason."""
        return "refused start"


class EndByStep(_End):
    """A step of the arm failed; later steps do not begin."""

    by: Literal["step"] = "step"
    step: int
    did: str

    @property
    def text(self) -> str:
        """The step, and what was seen of it."""
        return f"failed step {self.step}: {self.did}"


ArmEnd = Annotated[EndByCondition | EndByDeadline | EndByRefusal | EndByStep, Field(discriminator="by")]
