"""What the faults of the broker have in common: their proof, their undoing from the journal, and their refusals."""

from copy import deepcopy
from typing import Any

import pytest
from kafka.errors import InvalidReplicationAssignmentError
from pydantic import ValidationError

from devkit.errors import StackError
from devkit.faults.do import parse_do
from tests.unit.devkit.faults.kafka.fake_cluster import FakeCluster, Play

GROWS = {"add_partitions": {"topic": "output", "partitions": 5}}
HOLDS_BACK = {"client_quota": {"client": "held", "produce": "100KiB"}}
LEADS = {"move_leader": {"topic": "output", "partition": 1}}
MOVES = {"reassign": {"topic": "error", "to": [2, 3], "throttle": "1MiB"}}
MAKES_AGAIN = {"recreate_topic": {"topic": "output"}}
SETS = {"topic_settings": {"topic": "output", "settings": {"max.message.bytes": 1000, "retention.ms": "5"}}}
ON_ITS_WAY = "from brokers 1 to 2, 3 at 1048576 bytes a second"
REPLICAS = "a topic has replicas where the scenario says `kafka.brokers: 3`"
SO_BEFORE = "was so before: nothing changed"


def setting(key: str, value: object) -> dict[str, object]:
    return {"topic_settings": {"topic": "output", "settings": {key: value}}}


@pytest.fixture
def cluster(cluster: FakeCluster) -> FakeCluster:
    """With settings, quotas and throttles of before."""
    cluster.topics["out"].settings = {"retention.ms": "86400000"}
    cluster.topics["err"].settings = {"leader.replication.throttled.replicas": "*", "retention.ms": "5"}
    cluster.quotas = {"held": {"producer_byte_rate": 5.0, "consumer_byte_rate": 6.0}, "fast": {"producer_byte_rate": 9}}
    of_two = {"leader.replication.throttled.rate": "777", "log.cleaner.threads": "2"}
    cluster.broker_settings = {1: {}, 2: of_two, 3: {}}
    return cluster


def set_up(cluster: FakeCluster, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(cluster, name, value)


def state(cluster: FakeCluster) -> tuple[Any, ...]:
    """What a fault changes, and has to restore."""
    return deepcopy((cluster.topics, cluster.quotas, cluster.broker_settings))


@pytest.mark.parametrize(
    ("written", "of_cluster", "acted", "did"),
    [
        (GROWS, {}, True, "topic out had 2 partitions and has 5"),
        (GROWS, {"deaf": {"create_partitions"}}, False, "topic out had 2 partitions and has 2"),
        (MOVES, {}, True, f"had moved, {ON_ITS_WAY}"),
        (MOVES, {"deaf": {"move"}}, False, f"partition 0 of err had not moved, {ON_ITS_WAY}"),
        (MOVES, {"moves_slowly": True}, True, f"still moving, which was cancelled, {ON_ITS_WAY}"),
        ({"reassign": {"topic": "error", "to": [1]}}, {}, False, "on brokers 1 before: nothing moved"),
        (MAKES_AGAIN, {"deaf": {"delete_topics", "create_topics"}}, False, "topic out is the one of before"),
        (LEADS, {}, True, "broker 3 led partition 1 of out, before and after it broker 2"),
        (SETS, {}, True, "topic out had max.message.bytes 1000, retention.ms 5, and has what it had before"),
        (setting("retention.ms", "86400000"), {}, False, f"what was asked of topic out {SO_BEFORE}"),
        (setting("segment.bytes", "1073741824"), {}, False, f"what was asked of topic out {SO_BEFORE}"),
        (
            HOLDS_BACK,
            {},
            True,
            "the broker had producer_byte_rate 102400 for client held, and has what it had before; "
            "whom that slowed is not measured",
        ),
        ({"client_quota": {"client": "fast", "produce": 9}}, {}, False, f"asked for client fast {SO_BEFORE}"),
    ],
)
def test_the_proof_is_what_the_cluster_says_at_the_end(
    cluster: FakeCluster, play: Play, written: dict[str, object], of_cluster: dict[str, Any], acted: bool, did: str
) -> None:
    set_up(cluster, of_cluster)
    before = state(cluster)
    proof = play(written).begin().end()
    assert proof.acted is acted
    assert proof.did.endswith(did)
    assert acted or state(cluster) == before


@pytest.mark.parametrize("written", [LEADS, SETS, HOLDS_BACK, MOVES], ids=lambda written: next(iter(written)))
def test_the_end_and_the_journal_alone_restore_what_was_before(
    cluster: FakeCluster, play: Play, written: dict[str, object]
) -> None:
    cluster.moves_slowly = written is MOVES  # what has moved stays where it is
    before, case = state(cluster), play(written)
    acting = case.begin()
    assert state(cluster) != before
    acting.end()
    assert state(cluster) == before
    case.begin()
    for _ in range(2):
        case.undo_from_journal()
        assert state(cluster) == before


@pytest.mark.parametrize("written", [LEADS, SETS, MOVES], ids=lambda written: next(iter(written)))
def test_of_a_topic_that_is_gone_there_is_nothing_to_restore(
    cluster: FakeCluster, play: Play, written: dict[str, object]
) -> None:
    broker_settings = deepcopy(cluster.broker_settings)
    case = play(written)
    case.begin()
    done = len(cluster.asked)
    cluster.topics.clear()
    case.undo_from_journal()
    # Of a move the throttle of the brokers has to go.
    assert cluster.broker_settings == broker_settings
    assert {call for call, _ in cluster.asked[done:]} == ({"alter_configs"} if written is MOVES else set())


@pytest.mark.parametrize(
    ("written", "of_cluster", "message", "hint"),
    [
        ({"add_partitions": {"topic": "out", "partitions": 2}}, {}, "has 2 partitions, and can only get more", ""),
        ({"move_leader": {"topic": "nowhere"}}, {}, "Kafka has no topic 'nowhere'", "there are: err, out"),
        (MOVES, {"brokers": (1,)}, "there is no broker 2, 3", "there are: 1"),
        ({"move_leader": {"topic": "error"}}, {}, "led by broker 1, and has replicas on no other broker", REPLICAS),
        ({"move_leader": {"topic": "output", "to": 9}}, {}, "has replicas on 2, 3", REPLICAS),
        ({"move_leader": {"topic": "output", "to": 1}}, {}, "is led by broker 1", REPLICAS),
        ({"move_leader": {"topic": "output", "partition": 2}}, {}, "has 2 partitions, and none of number 2", ""),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_done(
    cluster: FakeCluster, play: Play, written: dict[str, object], of_cluster: dict[str, Any], message: str, hint: str
) -> None:
    set_up(cluster, of_cluster)
    case = play(written)
    with pytest.raises(StackError, match=message) as refused:
        case.begin()
    assert (refused.value.hint or "") == hint
    assert (cluster.asked, case.plans, cluster.closed) == ([], [], 1)


@pytest.mark.parametrize(("written", "topic"), [(LEADS, "out"), (MOVES, "err")])
def test_a_move_of_another_is_not_ours_to_cancel(
    cluster: FakeCluster, play: Play, written: dict[str, object], topic: str
) -> None:
    cluster.topics[topic].moving |= {0, 1}
    case = play(written)
    with pytest.raises(StackError, match=rf"partition \d of {topic} is being moved already"):
        case.begin()
    assert (cluster.asked, case.plans) == ([], [])
    assert case.fault.brokers == 2


@pytest.mark.parametrize(
    ("written", "of_cluster", "message", "hint"),
    [
        (HOLDS_BACK, {"deaf": {"refused"}}, "Kafka refused the quota: no such quota", ""),
        (MOVES, {"refusals": {"alter_configs": "[no]"}}, "Kafka did not change settings of broker 1: .no.", ""),
        (
            MOVES,
            {"refusals": {"move": InvalidReplicationAssignmentError}},
            r"did not move partition 0 of err to \(2, 3\): InvalidReplicationAss",
            "Replication assignment is invalid.",
        ),
    ],
)
def test_what_the_broker_refuses_is_said_and_undone(
    cluster: FakeCluster, play: Play, written: dict[str, object], of_cluster: dict[str, Any], message: str, hint: str
) -> None:
    before, case = state(cluster), play(written)
    set_up(cluster, of_cluster)
    with pytest.raises(StackError, match=message) as refused:
        case.begin()
    assert (refused.value.hint or "") == hint
    assert ("move" in cluster.calls()) is bool(hint), "nothing moves without its throttle"
    set_up(cluster, {"deaf": frozenset(), "refusals": {}})
    case.undo_from_journal()
    assert state(cluster) == before


def test_too_few_brokers_for_the_replicas_of_a_topic_are_told(cluster: FakeCluster, play: Play) -> None:
    cluster.brokers = (1,)
    with pytest.raises(StackError, match="Kafka at broker:1 refused"):
        play(MAKES_AGAIN).begin()


def test_a_setting_that_kafka_does_not_know_is_refused(cluster: FakeCluster, play: Play) -> None:
    before, case = state(cluster), play(setting("no.such", 1))
    with pytest.raises(StackError, match=r"Kafka knows no such setting of a topic: .*no.such"):
        case.begin()
    assert (state(cluster), case.plans) == (before, [])


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"add_partitions": {"topic": "output", "partitions": 1}}, "greater than"),
        ({"client_quota": {"request_percentage": float("inf")}}, "finite number"),
        ({"client_quota": {"client": "held"}}, "give one of produce, fetch"),
        ({"topic_settings": {"topic": "output", "settings": {}}}, "must not be empty"),
        # The source's offsets are what the audit knows events by.
        ({"recreate_topic": {"topic": "source"}}, "'output' or 'error'"),
        ({"recreate_topic": {"topic": "in"}}, "'output' or 'error'"),
        ({"recreate_topic": {"topic": "out"}}, "'output' or 'error'"),
    ],
)
def test_what_is_written_wrong_is_refused(written: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        parse_do(written)


RATES = ("consumer_byte_rate", "producer_byte_rate")


@pytest.mark.parametrize(
    ("written", "topics", "claims"),
    [
        (SETS, {"output": "out"}, {"topic out: max.message.bytes", "topic out: retention.ms"}),
        (SETS, {}, {"topic output: max.message.bytes", "topic output: retention.ms"}),
        (HOLDS_BACK, {}, {"producer_byte_rate of client held"}),
        ({"client_quota": {"fetch": 1, "produce": 2}}, {}, {f"{key} of each client" for key in RATES}),
    ],
    ids=["of the topic that is meant", "of the topic that is named", "for a client", "for each client"],
)
def test_each_setting_is_claimed_by_itself(
    written: dict[str, object], topics: dict[str, str], claims: set[str]
) -> None:
    assert parse_do(written).claims(topics) == claims
