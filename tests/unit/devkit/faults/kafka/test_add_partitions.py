import pytest

from devkit.faults.fault import MadeTopic
from tests.unit.devkit.faults.kafka.fake_cluster import FakeCluster, Play


@pytest.mark.parametrize("is_guest", [False, True], ids=["with its cluster", "outlives the run"])
def test_a_topic_grows_and_that_cannot_be_undone(cluster: FakeCluster, play: Play, *, is_guest: bool) -> None:
    case = play({"add_partitions": {"topic": "output", "partitions": 5}}, is_guest=is_guest)
    case.begin()
    assert cluster.asked == [("create_partitions", {"out": 5})]
    (plan,) = case.plans
    assert (plan.irreversible, plan.outlives_run) == ("topic out has 5 partitions where it had 2", is_guest)
    assert not case.fault.lasts


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
