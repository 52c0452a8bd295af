import pytest
from pydantic import ValidationError

from devkit.errors import StackError
from devkit.faults.do import parse_do
from devkit.faults.fault import MadeTopic
from tests.unit.devkit.faults.kafka.fake_cluster import FakeCluster, Play

GROWS = {"add_partitions": {"topic": "output", "partitions": 5}}


def test_a_topic_grows_and_that_cannot_be_undone(cluster: FakeCluster, play: Play) -> None:
    case = play(GROWS)
    proof = case.begin().end()
    assert cluster.asked == [("create_partitions", {"out": 5})]
    assert (proof.acted, proof.did) == (True, "topic out had 2 partitions and has 5")
    (plan,) = case.plans
    assert (plan.irreversible, plan.outlives_run) == ("topic out has 5 partitions where it had 2", False)
    assert not case.fault.lasts


def test_in_a_cluster_of_somebody_else_it_outlives_the_run(play: Play) -> None:
    case = play(GROWS, is_guest=True)
    case.begin()
    assert case.plans[0].outlives_run


def test_a_topic_that_did_not_grow_is_no_proof(cluster: FakeCluster, play: Play) -> None:
    cluster.deaf = frozenset({"create_partitions"})
    proof = play(GROWS).begin().end()
    assert (proof.acted, proof.did) == (False, "topic out had 2 partitions and has 2")


def test_fewer_partitions_are_refused(cluster: FakeCluster, play: Play) -> None:
    case = play({"add_partitions": {"topic": "out", "partitions": 2}})
    with pytest.raises(StackError, match="topic out has 2 partitions, and can only get more"):
        case.begin()
    assert (cluster.asked, case.plans) == ([], [])
    assert cluster.closed == 1


def test_a_topic_that_is_not_there_is_refused_with_those_that_are(play: Play) -> None:
    with pytest.raises(StackError, match="Kafka has no topic 'nowhere'") as refused:
        play({"add_partitions": {"topic": "nowhere", "partitions": 2}}).begin()
    assert refused.value.hint == "there are: err, out"


def test_one_partition_is_no_more() -> None:
    with pytest.raises(ValidationError):
        parse_do({"add_partitions": {"topic": "output", "partitions": 1}})


@pytest.mark.parametrize(
    ("asked", "records", "unreached"),
    [
        (5, {}, "partitions 2 to 4 of topic out"),
        (5, {1: 9}, "partitions 2 to 4 of topic out"),  # an old one
        (3, {}, "partition 2 of topic out"),
        (5, {4: 1}, ""),
    ],
)
def test_the_new_partitions_need_a_record(
    cluster: FakeCluster, play: Play, asked: int, records: dict[int, int], unreached: str
) -> None:
    cluster.topics["out"].records = 7
    acting = play({"add_partitions": {"topic": "output", "partitions": asked}}).begin()
    acting.end()
    cluster.topics["out"].records_above = records
    assert isinstance(acting, MadeTopic)
    assert acting.unreached() == unreached
