"""In which settings a program ran otherwise than its scenario declares, by the configuration that it logged."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from devkit.observe.setting_text import setting_text


class OtherSetting(BaseModel):
    """A key's value as the scenario declares it, defaults resolved, and as the program logged it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    declared: Any
    ran: Any

    def __str__(self) -> str:
        return f"{setting_text(self.ran)}, declared {setting_text(self.declared)}"


def other_settings(declared: Mapping[str, Any], ran: Mapping[str, Any]) -> dict[str, OtherSetting]:
    """By dotted key. What a scenario leaves open the program derives, so that counts for none."""
    return dict(_found(declared, ran, ""))


def _found(declared: Any, ran: Any, path: str) -> Iterator[tuple[str, OtherSetting]]:
    if isinstance(declared, Mapping) and isinstance(ran, Mapping):
        for key in sorted({*declared, *ran}):
            yield from _found(declared.get(key), ran.get(key), f"{path}.{key}" if path else key)
    elif declared is not None and declared != ran:
        yield path, OtherSetting(declared=declared, ran=ran)
