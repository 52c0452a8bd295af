"""Metadata of a run: the first line of its timeline, so that a run without a result has a report too."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from devkit.observe.arm_role import ROLES, TWO_ARMS, ArmName, Roles, in_role
from devkit.observe.settings import ChangedValue, setting_text

Difference = dict[ArmName, Any]
"""One configuration key in which the arms differ: its value in each."""


def difference_text(values: Difference, roles: Roles) -> str:
    """For a person: `none (incident) → serialized (fixed)`, and of arms with one value `none (incident, burst) → …`."""
    return " → ".join(_values(values, in_role(roles, role)) for role in ROLES)


def _values(values: Difference, arms: tuple[ArmName, ...]) -> str:
    by_text: dict[str, list[ArmName]] = {}
    for arm in arms:
        by_text.setdefault(setting_text(values.get(arm)), []).append(arm)
    return ", ".join(f"{text} ({', '.join(having)})" for text, having in by_text.items())


class RunMetadata(BaseModel):
    """A field is empty where the timeline of an older kit does not have it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    event: Literal["run"] = "run"
    scenario: str
    """Name of the scenario."""
    title: str = ""
    """Its title."""
    seed: int
    """Seed of all draws."""
    arms: tuple[ArmName, ...]
    """Arms that are to be played, in order."""
    roles: Roles = TWO_ARMS
    """All arms of the scenario with their roles."""
    reference: str = ""
    """Where the incident is described."""
    quote: str = ""
    """What was reported of the incident."""
    preserves: str = ""
    """Ratio that makes this run the same incident."""
    time_scale: float = 1
    """How many times faster than in production it is played, for the report alone."""
    config_difference: dict[str, Difference] = {}
    """Values of each key in which the arms differ, by key."""
    changes: tuple[ChangedValue, ...] = ()
    """Values that the command line set in the file for this run."""
    began: datetime | None = None
    """When the run began."""
    versions: dict[str, str] = {}
    """Version of each part and library, by name."""
    repeat: str = ""
    """Command that repeats the run."""
