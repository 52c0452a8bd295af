"""The model of one expectation in a scenario file, made from the registry: exactly one check with its argument."""

from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, create_model, model_validator

from devkit.expectations.base import Finding
from devkit.expectations.needs import as_seen
from devkit.expectations.registry import CHECKS
from devkit.headroom.shortage import Window
from devkit.observe.arm import ArmObservation


class _OneCheck(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("exactly one check in each item; write several items")
        (name,) = self.model_fields_set
        if getattr(self, name) is None:
            raise ValueError(f"{name} says nothing; write what it must be")
        return self

    @property
    def check(self) -> str:
        """The name of the check."""
        (name,) = self.model_fields_set
        return name

    @property
    def argument(self) -> Any:
        """What the check is to hold, as the check's own argument type."""
        return getattr(self, self.check)

    def depends_on_time(self, observation: ArmObservation) -> Window | None:
        """The time whose shortage would make the finding say nothing; None where time has no part in it."""
        return CHECKS[self.check].depends_on_time(self.argument, observation)

    def judge(self, observation: ArmObservation) -> Finding:
        """Hold the expectation against what was observed."""
        return as_seen(CHECKS[self.check].judge(self.argument, observation), observation)


if TYPE_CHECKING:
    Expectation = _OneCheck
else:
    _fields: dict[str, Any] = {name: (check.argument | None, None) for name, check in CHECKS.items()}
    Expectation = create_model("Expectation", __base__=_OneCheck, **_fields)
