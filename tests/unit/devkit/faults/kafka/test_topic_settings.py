from tests.unit.devkit.faults.kafka.fake_cluster import FakeCluster, Play

SETS = {"topic_settings": {"topic": "output", "settings": {"max.message.bytes": 1000, "retention.ms": "5"}}}
BEFORE = {"retention.ms": "86400000"}


def test_settings_change_until_the_end(cluster: FakeCluster, play: Play) -> None:
    cluster.topics["out"].settings = dict(BEFORE)
    acting = play(SETS).begin()
    assert cluster.topics["out"].settings == {"max.message.bytes": "1000", "retention.ms": "5"}
    acting.end()
    # What was not set is taken out again, and not set to the default of today.
    assert cluster.asked[-1] == ("alter_configs", ("out", {"max.message.bytes": None} | BEFORE))


def test_settings_that_another_changed_are_no_proof(cluster: FakeCluster, play: Play) -> None:
    cluster.topics["out"].settings = dict(BEFORE)
    acting = play(SETS).begin()
    del cluster.topics["out"].settings["max.message.bytes"]
    proof = acting.end()
    assert not proof.acted
    assert "max.message.bytes its default" in proof.did
    assert cluster.topics["out"].settings == BEFORE


def test_truth_values_are_written_as_kafka_writes_them(cluster: FakeCluster, play: Play) -> None:
    play({"topic_settings": {"topic": "err", "settings": {"preallocate": True}}}).begin()
    assert cluster.topics["err"].settings == {"preallocate": "true"}
