"""The arms of a scenario: each has a name of its own and one of two roles.

An arm named `incident` or `fixed` has that role. Where a list names arms, a role means every arm that has it.
"""

from collections.abc import Collection, Mapping
from typing import Literal, get_args

ArmName = str
ArmRole = Literal["incident", "fixed"]
ROLES: tuple[ArmRole, ...] = get_args(ArmRole)
Roles = Mapping[ArmName, ArmRole]
"""The arms of a scenario by name, those of the role `incident` first: the order in which they are played."""
TWO_ARMS: Roles = {"incident": "incident", "fixed": "fixed"}


def in_role(roles: Roles, role: ArmRole) -> tuple[ArmName, ...]:
    """The arms that have this role."""
    return tuple(name for name, arm_role in roles.items() if arm_role == role)


def arms_named(words: Collection[str], roles: Roles) -> tuple[ArmName, ...]:
    """The arms that a list of names and roles means, in the order of play."""
    return tuple(name for name, role in roles.items() if name in words or role in words)
