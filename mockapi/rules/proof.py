"""What the journal counted of the requests that a rule met: by it a fault says whether it acted.

A fault that acts on each request it meets (latency, status) acted when it met one. What acts under load only, or on
some of the requests, says itself what shows that it did.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Met:
    """Counts of the requests that met a rule: those that ended, those of them that were answered in full, and how many
    got which status, `none` for no status. `max_queued` is the longest that the queues of all capacities were together,
    `changed_by` says how many answers each kind of change met.
    """

    requests: int
    completed: int
    by_status: Mapping[str, int]
    max_queued: int
    changed_by: Mapping[str, int] = field(default_factory=dict)


def unchanged(effect: str, reason: str) -> Callable[[Any, Met], str]:
    """The inaction of a fault that changes answers: the `reason`, unless the journal counted one with that effect."""
    return lambda _, met: "" if met.changed_by.get(effect) else reason
