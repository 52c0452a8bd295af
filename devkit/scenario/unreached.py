"""Faults that made a topic or partitions of it which no record reached: the arm shows nothing of how it stands them."""

from devkit.observe.arm_observation import TimelineEvidence
from devkit.scenario.fault_proof import ByArm


def unreached(played: ByArm) -> list[str]:
    """A sentence for each such fault and arm."""
    return [
        f"{arm}: fault {item.fault!r} acted, and no traffic reached what it made: no record came to {item.unreached}"
        for arm, items in played.items()
        for item in items
        if isinstance(item, TimelineEvidence) and item.unreached
    ]
