from tests.unit.devkit.faults.kafka.fake_cluster import FakeCluster, Play

MOVES = {"move_leader": {"topic": "output", "partition": 1}}


def test_the_next_replica_leads_until_the_end(cluster: FakeCluster, play: Play) -> None:
    acting = play(MOVES).begin()
    assert (cluster.topics["out"].leaders, cluster.topics["out"].replicas[1]) == ([1, 3], [3, 2, 1])
    assert cluster.calls() == ["move", "elect"]
    cluster.elections_in_vain = 2  # it is not in sync yet, and is elected when it is
    acting.end()
    assert (cluster.topics["out"].leaders, cluster.topics["out"].replicas[1]) == ([1, 2], [2, 3, 1])


def test_the_one_that_is_asked_for_leads(cluster: FakeCluster, play: Play) -> None:
    play({"move_leader": {"topic": "out", "to": 3}}).begin()
    assert cluster.topics["out"].leaders == [3, 2]


def test_a_lead_that_went_back_by_itself_is_no_proof(cluster: FakeCluster, play: Play) -> None:
    acting = play(MOVES).begin()
    cluster.topics["out"].leaders[1] = 2
    proof = acting.end()
    assert (proof.acted, proof.did) == (False, "broker 2 led partition 1 of out, before and after it broker 2")
