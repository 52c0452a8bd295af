import pytest

from devkit.errors import StackError
from tests.unit.devkit.faults.kafka.fake_cluster import FakeCluster, Play

MOVES = {"move_leader": {"topic": "output", "partition": 1}}


def test_the_next_replica_leads_until_the_end(cluster: FakeCluster, play: Play) -> None:
    acting = play(MOVES).begin()
    assert (cluster.topics["out"].leaders, cluster.topics["out"].replicas[1]) == ([1, 3], [3, 2, 1])
    assert cluster.calls() == ["move", "elect"]
    proof = acting.end()
    assert (proof.acted, proof.did) == (True, "broker 3 led partition 1 of out, before and after it broker 2")
    assert (cluster.topics["out"].leaders, cluster.topics["out"].replicas[1]) == ([1, 2], [2, 3, 1])


def test_the_one_that_is_asked_for_leads(cluster: FakeCluster, play: Play) -> None:
    play({"move_leader": {"topic": "out", "to": 3}}).begin()
    assert cluster.topics["out"].leaders == [3, 2]


def test_a_broker_that_is_not_in_sync_yet_is_elected_when_it_is(cluster: FakeCluster, play: Play) -> None:
    acting = play(MOVES).begin()
    cluster.elections_in_vain = 2
    acting.end()
    assert cluster.topics["out"].leaders == [1, 2]


def test_a_move_of_somebody_else_is_not_ours_to_cancel(cluster: FakeCluster, play: Play) -> None:
    cluster.topics["out"].moving.add(1)
    with pytest.raises(StackError, match="partition 1 of out is being moved already"):
        play(MOVES).begin()
    assert cluster.asked == []


def test_the_journal_alone_gives_the_lead_back(cluster: FakeCluster, play: Play) -> None:
    case = play(MOVES)
    case.begin()
    case.undo_from_journal()
    case.undo_from_journal()
    assert cluster.topics["out"].leaders == [1, 2]


def test_a_topic_that_is_gone_has_no_leader_to_restore(cluster: FakeCluster, play: Play) -> None:
    case = play(MOVES)
    case.begin()
    del cluster.topics["out"]
    case.undo_from_journal()
    assert cluster.calls() == ["move", "elect"]


def test_a_lead_that_went_back_by_itself_is_no_proof(cluster: FakeCluster, play: Play) -> None:
    acting = play(MOVES).begin()
    cluster.topics["out"].leaders[1] = 2
    proof = acting.end()
    assert (proof.acted, proof.did) == (False, "broker 2 led partition 1 of out, before and after it broker 2")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"topic": "error"}, "partition 0 of err is led by broker 1, and has replicas on no other broker"),
        ({"topic": "output", "to": 9}, "has replicas on 2, 3"),
        ({"topic": "output", "to": 1}, "is led by broker 1"),
        ({"topic": "output", "partition": 2}, "topic out has 2 partitions, and none of number 2"),
    ],
)
def test_what_cannot_lead_is_refused(
    cluster: FakeCluster, play: Play, written: dict[str, object], message: str
) -> None:
    case = play({"move_leader": written})
    with pytest.raises(StackError, match=message):
        case.begin()
    assert (cluster.asked, case.plans) == ([], [])


def test_it_needs_more_than_one_broker(play: Play) -> None:
    assert play(MOVES).fault.brokers == 2
