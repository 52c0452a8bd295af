"""What a check is: a name, the type of its argument, and a function from what was observed to a finding."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from devkit.observe.arm import ArmObservation


@dataclass(frozen=True)
class Finding:
    """What was expected, what was measured, and whether the one meets the other."""

    name: str
    expected: str
    measured: str
    holds: bool


class Check(Protocol):
    """One kind of expectation. `argument` is the type that its value in a scenario file must fit."""

    @property
    def name(self) -> str: ...

    @property
    def argument(self) -> Any: ...

    def judge(self, argument: Any, observation: ArmObservation) -> Finding: ...


class _Range(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    at_least: int | None = None
    at_most: int | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.at_least is None and self.at_most is None:
            raise ValueError("write at_least, at_most or a number")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"no number is at least {self.at_least} and at most {self.at_most}; swap them?")
        return self

    def admits(self, value: int) -> bool:
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    def __str__(self) -> str:
        if self.at_least == self.at_most:
            return f"{self.at_least}"
        parts = [f"at least {self.at_least}"] if self.at_least is not None else []
        parts += [f"at most {self.at_most}"] if self.at_most is not None else []
        return " and ".join(parts)


def _exactly(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return {"at_least": value, "at_most": value}
    if not isinstance(value, dict | _Range | None):
        raise ValueError(  # noqa: TRY004 — what pydantic turns into a validation error
            f"{value!r} is no bound; write a number or {{at_least: …, at_most: …}}"
        )
    return value


Bound = Annotated[_Range, BeforeValidator(_exactly, json_schema_input_type=int | _Range)]
"""A number, or `{at_least: …, at_most: …}`."""


@dataclass(frozen=True)
class Count:
    """A check on one number. Where `of` gives None there was nothing to count, so no bound holds; `absent` says why."""

    name: str
    of: Callable[[ArmObservation], int | None]
    argument: Any = Bound
    absent: str = "nothing to count"

    def judge(self, argument: _Range, observation: ArmObservation) -> Finding:
        value = self.of(observation)
        if value is None:
            return Finding(self.name, str(argument), self.absent, holds=False)
        return Finding(self.name, str(argument), str(value), argument.admits(value))
