import pytest

from devkit.faults.claims import clashes, part_claims, topic_claims
from devkit.faults.do import parse_do


@pytest.mark.parametrize(
    ("claims", "other", "both"),
    [
        (part_claims("kafka"), part_claims("kafka"), ["part kafka"]),
        (part_claims("kafka"), part_claims("kafka-1"), []),
        (topic_claims("out"), topic_claims("out", "a", "b"), ["topic out: a", "topic out: b"]),
        (topic_claims("out", "a", "b"), topic_claims("out", "b", "c"), ["topic out: b"]),
        (topic_claims("out"), topic_claims("output", "a"), []),
        (topic_claims("out", "partition 1"), topic_claims("out", "partition 10"), []),
        (frozenset(), topic_claims("out"), []),
    ],
)
def test_a_thing_clashes_with_itself_and_its_pieces(
    claims: frozenset[str], other: frozenset[str], both: list[str]
) -> None:
    assert (clashes(claims, other), clashes(other, claims)) == (both, both)


MOVES = {"reassign": {"topic": "output", "to": [2]}}
MAKES_AGAIN = {"recreate_topic": {"topic": "output"}}


@pytest.mark.parametrize(
    ("do", "other", "both"),
    [
        (MOVES, {"move_leader": {"topic": "out"}}, ["topic out: partition 0"]),
        (MOVES, {"move_leader": {"topic": "output", "partition": 1}}, []),
        (MOVES, {"reassign": {"topic": "error", "to": [2]}}, ["the brokers' replication throttle"]),
        (MAKES_AGAIN, {"move_leader": {"topic": "out"}}, ["topic out: partition 0"]),
        ({"add_partitions": {"topic": "out", "partitions": 5}}, MAKES_AGAIN, ["topic out: number of partitions"]),
        (
            MOVES,
            {"topic_settings": {"topic": "out", "settings": {"leader.replication.throttled.replicas": "*"}}},
            ["topic out: leader.replication.throttled.replicas"],
        ),
    ],
)
def test_faults_of_the_broker_know_the_same_thing_by_role_and_by_name(
    do: dict[str, object], other: dict[str, object], both: list[str]
) -> None:
    topics = {"output": "out", "error": "err"}
    assert clashes(parse_do(do).claims(topics), parse_do(other).claims(topics)) == both
