"""The arms of a scenario that is made without a file."""

from typing import Any

from pydantic import TypeAdapter

from devkit.scenario.arms import Arms, ArmSettings

_ARMS: TypeAdapter[dict[str, ArmSettings]] = TypeAdapter(Arms)


def arms_of(**arms: Any) -> dict[str, ArmSettings]:
    """As a file has them."""
    return _ARMS.validate_python(arms)
