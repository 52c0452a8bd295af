"""A value that the command line set in a scenario's file for one run, as the run's reports have it."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from devkit.observe.setting_text import setting_text
from located_config.redaction import redacted


class ChangedValue(BaseModel):
    """`place` is the way to it from the top of the file; `before` is what the file says there, None where nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    place: str
    before: Any
    value: Any

    @model_validator(mode="before")
    @classmethod
    def _without_secrets(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {**given, **{name: redacted(given.get(name), str(given.get("place"))) for name in ("before", "value")}}

    def __str__(self) -> str:
        return f"{self.place}: {setting_text(self.before)} → {setting_text(self.value)}"


def not_as_shipped(changes: Iterable[ChangedValue]) -> str:
    """For a person: that the run was not of the file as it is, and in what; empty where it was."""
    listed = "; ".join(map(str, changes))
    return f"not the file as it is: {listed}" if listed else ""
