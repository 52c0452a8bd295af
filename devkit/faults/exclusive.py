"""What a fault holds for itself alone while it acts, because its end puts back what it found there.

A claim is text that a person can read. One that goes on from another by `: ` is a piece of that: `topic out` is all of
the topic, `topic out: partition 0` and `topic out: max.message.bytes` are two things of it. Faults of the network and
of the store claim nothing: they add up. What is claimed of a Kafka cluster is claimed from all runs of this user that
use it, by whatever address, as it has an id; see `devkit.faults.journal`.
"""

from collections.abc import Set

_WITHIN = ": "
_PART = "part "


def of_topic(topic: str, *pieces: str) -> frozenset[str]:
    """These pieces of a topic, or without any all of it."""
    return frozenset(f"topic {topic}{_WITHIN}{piece}" for piece in pieces) or frozenset({f"topic {topic}"})


def of_part(part: str) -> frozenset[str]:
    """Whether a part of the stack runs."""
    return frozenset({f"{_PART}{part}"})


def of_cluster(claims: Set[str]) -> frozenset[str]:
    """Those of the Kafka cluster, which other runs may share; a part is of its own run alone."""
    return frozenset(claim for claim in claims if not claim.startswith(_PART))


def clashes(claims: Set[str], others: Set[str]) -> list[str]:
    """What is in both, the smaller of two where one is a piece of the other."""
    return sorted({max(one, other, key=len) for one in claims for other in others if _overlap(one, other)})


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(other + _WITHIN) or other.startswith(one + _WITHIN)
