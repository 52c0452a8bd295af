"""The two arms of a scenario by name."""

from typing import Literal, get_args

ArmName = Literal["incident", "fixed"]
ARMS: tuple[ArmName, ...] = get_args(ArmName)
