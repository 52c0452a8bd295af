"""Settings in the reports of a run: their text, values that the command line set, values that a program ran with."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from located_config.redaction import redacted


def setting_text(value: object) -> str:
    """The value of a key as a file would have it; null is `not set`."""
    if value is None:
        return "not set"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class ChangedValue(BaseModel):
    """A value that the command line set in a scenario's file for one run.

    `place` is the way to it from the top of the file; `before` is what the file says there, None where nothing.
    """

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
    """For a person: which values of the file were changed for the run; empty where none was."""
    listed = "; ".join(map(str, changes))
    return f"not the file as it is: {listed}" if listed else ""


class OtherSetting(BaseModel):
    """A key's value as the scenario declares it, defaults resolved, and as the program logged it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    declared: Any
    ran: Any

    def __str__(self) -> str:
        return f"{setting_text(self.ran)}, declared {setting_text(self.declared)}"


def other_settings(declared: Mapping[str, Any], ran: Mapping[str, Any]) -> dict[str, OtherSetting]:
    """Where a program ran otherwise than its scenario declares, by dotted key.

    A key that the scenario leaves open does not count: the program derives its value.
    """
    return dict(_compare(declared, ran, ""))


def _compare(declared: Any, ran: Any, path: str) -> Iterator[tuple[str, OtherSetting]]:
    if isinstance(declared, Mapping) and isinstance(ran, Mapping):
        for key in sorted({*declared, *ran}):
            yield from _compare(declared.get(key), ran.get(key), f"{path}.{key}" if path else key)
    elif declared is not None and declared != ran:
        yield path, OtherSetting(declared=declared, ran=ran)
