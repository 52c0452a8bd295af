"""Claims: what no other fault may act on while a fault acts, because its end restores what it found there.

A claim is text that a person can read. One that goes on from another by `: ` is a piece of that: `topic out` is all of
the topic, `topic out: partition 0` and `topic out: max.message.bytes` are two things of it. Faults of the network and
of the store claim nothing: they add up. What is claimed of a Kafka cluster is claimed from all runs of this user that
use it, by whatever address, as it has an id; see `devkit.faults.journal`.
"""

from collections.abc import Set

WITHIN = ": "
_PART = "part "


def topic_claims(topic: str, *pieces: str) -> frozenset[str]:
    """Claims on these pieces of a topic, or without any on all of it."""
    return frozenset(f"topic {topic}{WITHIN}{piece}" for piece in pieces) or frozenset({f"topic {topic}"})


def part_claims(part: str) -> frozenset[str]:
    """The claim on whether a part of the stack runs."""
    return frozenset({f"{_PART}{part}"})


def cluster_claims(claims: Set[str]) -> frozenset[str]:
    """The claims on the Kafka cluster, which other runs may share; a part is of its own run alone."""
    return frozenset(claim for claim in claims if not claim.startswith(_PART))


def clashes(claims: Set[str], held: Set[str]) -> list[str]:
    """The claims in both sets; of two that overlap, the smaller."""
    return sorted({max(claim, other, key=len) for claim in claims for other in held if _overlap(claim, other)})


def _overlap(claim: str, other: str) -> bool:
    return claim == other or claim.startswith(other + WITHIN) or other.startswith(claim + WITHIN)
