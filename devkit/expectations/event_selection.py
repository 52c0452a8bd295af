"""`of: all | healthy`: which events an expectation is about, and whether they are known."""

from typing import Annotated, Literal

from pydantic import Field

from devkit.observe.arm_observation import ArmObservation
from devkit.observe.latency import Latencies
from devkit.observe.observable import UPSTREAM, why_not_observable

EventSelection = Annotated[
    Literal["all", "healthy"],
    Field(description="Which events count: all, or those of pages that no fault picks."),
]


def why_unknown(events: EventSelection, observation: ArmObservation) -> str | None:
    """Why the selected events are unknown: the mock has lost which pages a fault matched. None if they are known."""
    forgotten = UPSTREAM & observation.not_observable if events == "healthy" else None
    return why_not_observable(forgotten) if forgotten else None


def select_latencies(events: EventSelection, observation: ArmObservation) -> Latencies | None:
    """The latencies of the selected events; None if it is unknown which they are."""
    return observation.latencies if events == "all" else observation.latencies.healthy()
