"""What a run is about, known before it begins: the first line of its timeline.

So a report can tell the story of a run that never came to a result.
"""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Arm = Literal["incident", "fixed"]


class Difference(BaseModel):
    """One configuration key in which the arms differ."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    incident: Any
    fixed: Any


class About(BaseModel):
    """The scenario's story and how to repeat the run; `arms` are those that were to be played, in order.

    What the timeline of an older kit does not say is empty.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    event: Literal["run"] = "run"
    scenario: str
    title: str = ""
    seed: int
    arms: tuple[Arm, ...]
    reference: str = ""
    quote: str = ""
    preserves: str = ""
    time_scale: float = 1
    config_difference: dict[str, Difference] = {}
    began: datetime | None = None
    versions: dict[str, str] = {}
    repeat: str = ""
