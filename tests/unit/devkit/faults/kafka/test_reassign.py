import pytest
from kafka.errors import InvalidReplicationAssignmentError, NoReassignmentInProgressError

from devkit.errors import StackError
from tests.unit.devkit.faults.kafka.fake_cluster import FakeCluster, Play

MOVES = {"reassign": {"topic": "error", "to": [2, 3], "throttle": "1MiB"}}
RATES = {"leader.replication.throttled.rate": "1048576", "follower.replication.throttled.rate": "1048576"}


def test_a_partition_moves_under_a_throttle_that_goes_with_the_fault(cluster: FakeCluster, play: Play) -> None:
    case = play(MOVES)
    acting = case.begin()
    assert cluster.broker_settings == {1: RATES, 2: RATES, 3: RATES}
    assert cluster.topics["err"].settings == {
        "leader.replication.throttled.replicas": "0:1",
        "follower.replication.throttled.replicas": "0:2,0:3",
    }
    assert cluster.calls()[-1] == "move", "the throttle is there before anything is copied"
    proof = acting.end()
    assert proof.acted
    assert proof.did == "partition 0 of err had moved, from brokers 1 to 2, 3 at 1048576 bytes a second"
    assert cluster.topics["err"].replicas == [[2, 3]]
    assert cluster.topics["err"].settings == {}
    assert cluster.broker_settings == {1: {}, 2: {}, 3: {}}


def test_a_move_that_has_not_ended_is_cancelled(cluster: FakeCluster, play: Play) -> None:
    cluster.moves_slowly = True
    proof = play(MOVES).begin().end()
    assert (proof.acted, "was still moving, which was cancelled" in proof.did) == (True, True)
    assert (cluster.topics["err"].moving, cluster.topics["err"].replicas) == (set(), [[1]])


def test_the_journal_alone_cancels_it_and_lifts_the_throttle(cluster: FakeCluster, play: Play) -> None:
    cluster.moves_slowly = True
    case = play(MOVES)
    case.begin()
    case.undo_from_journal()
    case.undo_from_journal()
    assert (cluster.topics["err"].moving, cluster.topics["err"].settings) == (set(), {})
    assert cluster.broker_settings == {1: {}, 2: {}, 3: {}}


def test_the_throttle_of_the_brokers_goes_also_where_the_topic_is_gone(cluster: FakeCluster, play: Play) -> None:
    case = play(MOVES)
    case.begin()
    del cluster.topics["err"]
    case.undo_from_journal()
    assert cluster.broker_settings == {1: {}, 2: {}, 3: {}}


def test_an_earlier_throttle_is_there_again_at_the_end(cluster: FakeCluster, play: Play) -> None:
    earlier = {"leader.replication.throttled.rate": "777"}
    topic_claims = {"leader.replication.throttled.replicas": "*", "retention.ms": "5"}
    cluster.broker_settings = {1: {}, 2: {**earlier, "log.cleaner.threads": "2"}, 3: {}}
    cluster.topics["err"].settings = dict(topic_claims)
    case = play(MOVES)
    acting = case.begin()
    assert cluster.broker_settings[2] == RATES | {"log.cleaner.threads": "2"}
    acting.end()
    assert cluster.broker_settings == {1: {}, 2: {**earlier, "log.cleaner.threads": "2"}, 3: {}}
    assert cluster.topics["err"].settings == topic_claims
    case.begin()
    case.undo_from_journal()
    assert (cluster.broker_settings[2], cluster.topics["err"].settings) == (
        {**earlier, "log.cleaner.threads": "2"},
        topic_claims,
    )


def test_a_throttle_that_a_broker_refuses_begins_no_move(cluster: FakeCluster, play: Play) -> None:
    cluster.refusals = {"alter_configs": "[Error 87] not allowed"}
    with pytest.raises(StackError, match=r"Kafka did not change settings of broker 1: .Error 87. not allowed"):
        play(MOVES).begin()
    assert "move" not in cluster.calls()


def test_a_move_that_is_refused_says_so(cluster: FakeCluster, play: Play) -> None:
    cluster.refusals = {"move": InvalidReplicationAssignmentError}
    case = play(MOVES)
    with pytest.raises(
        StackError, match=r"did not move partition 0 of err to \(2, 3\): InvalidReplicationAss"
    ) as refused:
        case.begin()
    assert refused.value.hint == "Replication assignment is invalid."
    cluster.refusals = {}
    case.undo_from_journal()
    assert cluster.broker_settings == {1: {}, 2: {}, 3: {}}


def test_a_move_of_somebody_else_is_not_ours_to_cancel(cluster: FakeCluster, play: Play) -> None:
    cluster.topics["err"].moving.add(0)
    case = play(MOVES)
    with pytest.raises(StackError, match="partition 0 of err is being moved already"):
        case.begin()
    assert (cluster.asked, case.plans) == ([], [])


def test_a_move_that_ends_while_it_is_cancelled_is_no_error(cluster: FakeCluster, play: Play) -> None:
    cluster.moves_slowly = True
    acting = play(MOVES).begin()
    cluster.refusals = {"move": NoReassignmentInProgressError}
    assert acting.end().acted


def test_a_partition_that_is_there_already_is_no_proof(cluster: FakeCluster, play: Play) -> None:
    proof = play({"reassign": {"topic": "error", "to": [1]}}).begin().end()
    assert (proof.acted, proof.did) == (False, "partition 0 of err was on brokers 1 before: nothing moved")


def test_a_partition_that_did_not_move_is_no_proof(cluster: FakeCluster, play: Play) -> None:
    cluster.deaf = frozenset({"move"})
    proof = play(MOVES).begin().end()
    assert (proof.acted, "had not moved" in proof.did) == (False, True)


def test_a_broker_that_is_not_there_is_refused(cluster: FakeCluster, play: Play) -> None:
    cluster.brokers = (1,)
    case = play(MOVES)
    with pytest.raises(StackError, match="there is no broker 2, 3") as refused:
        case.begin()
    assert refused.value.hint == "there are: 1"
    assert (cluster.asked, case.plans) == ([], [])


def test_it_needs_more_than_one_broker(play: Play) -> None:
    assert play(MOVES).fault.brokers == 2
