from kafka.errors import NoReassignmentInProgressError

from tests.unit.devkit.faults.kafka.fake_cluster import FakeCluster, Play

MOVES = {"reassign": {"topic": "error", "to": [2, 3], "throttle": "1MiB"}}
RATES = {"leader.replication.throttled.rate": "1048576", "follower.replication.throttled.rate": "1048576"}


def test_a_partition_moves_under_a_throttle_that_goes_with_the_fault(cluster: FakeCluster, play: Play) -> None:
    cluster.broker_settings = {1: {}, 2: {"log.cleaner.threads": "2"}, 3: {}}
    acting = play(MOVES).begin()
    assert cluster.broker_settings == {1: RATES, 2: RATES | {"log.cleaner.threads": "2"}, 3: RATES}
    replicas = {"leader": "0:1", "follower": "0:2,0:3"}
    throttled = {f"{role}.replication.throttled.replicas": places for role, places in replicas.items()}
    assert cluster.topics["err"].settings == throttled
    assert cluster.calls()[-1] == "move", "the throttle is there before anything is copied"
    acting.end()
    assert (cluster.topics["err"].replicas, cluster.topics["err"].settings) == ([[2, 3]], {})
    assert cluster.broker_settings == {1: {}, 2: {"log.cleaner.threads": "2"}, 3: {}}


def test_a_move_that_ends_while_it_is_cancelled_is_no_error(cluster: FakeCluster, play: Play) -> None:
    cluster.moves_slowly = True
    acting = play(MOVES).begin()
    cluster.refusals = {"move": NoReassignmentInProgressError}
    assert acting.end().acted
