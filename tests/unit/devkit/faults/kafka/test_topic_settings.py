import pytest
from pydantic import ValidationError

from devkit.errors import StackError
from devkit.faults.do import parse_do
from tests.unit.devkit.faults.kafka.fake_cluster import FakeCluster, Play

SETS = {"topic_settings": {"topic": "output", "settings": {"max.message.bytes": 1000, "retention.ms": "5"}}}
BEFORE = {"retention.ms": "86400000"}


@pytest.fixture(autouse=True)
def _own(cluster: FakeCluster) -> None:
    cluster.topics["out"].settings = dict(BEFORE)


def test_settings_change_until_the_end(cluster: FakeCluster, play: Play) -> None:
    acting = play(SETS).begin()
    assert cluster.topics["out"].settings == {"max.message.bytes": "1000", "retention.ms": "5"}
    proof = acting.end()
    assert proof.acted
    assert proof.did == "topic out had max.message.bytes 1000, retention.ms 5, and has what it had before"
    assert cluster.topics["out"].settings == BEFORE
    # What was not set is taken out again, and not set to the default of today.
    assert cluster.asked[-1] == ("alter_configs", ("out", {"max.message.bytes": None} | BEFORE))


def test_the_journal_alone_restores_them(cluster: FakeCluster, play: Play) -> None:
    case = play(SETS)
    case.begin()
    case.undo_from_journal()
    case.undo_from_journal()
    assert cluster.topics["out"].settings == BEFORE


def test_a_topic_that_is_gone_has_nothing_to_restore(cluster: FakeCluster, play: Play) -> None:
    case = play(SETS)
    case.begin()
    del cluster.topics["out"]
    case.undo_from_journal()
    assert cluster.calls() == ["alter_configs"]


def test_settings_that_somebody_else_changed_are_no_proof(cluster: FakeCluster, play: Play) -> None:
    acting = play(SETS).begin()
    del cluster.topics["out"].settings["max.message.bytes"]
    proof = acting.end()
    assert not proof.acted
    assert "max.message.bytes its default" in proof.did
    assert cluster.topics["out"].settings == BEFORE


@pytest.mark.parametrize(("key", "value"), [("retention.ms", "86400000"), ("segment.bytes", "1073741824")])
def test_what_was_so_before_or_by_default_changes_nothing(
    cluster: FakeCluster, play: Play, key: str, value: str
) -> None:
    proof = play({"topic_settings": {"topic": "output", "settings": {key: value}}}).begin().end()
    did = "what was asked of topic out was so before: nothing changed"
    assert (proof.acted, proof.did) == (False, did)
    assert cluster.topics["out"].settings == BEFORE


def test_a_setting_that_kafka_does_not_know_is_refused(cluster: FakeCluster, play: Play) -> None:
    with pytest.raises(StackError, match=r"Kafka knows no such setting of a topic: .*no.such"):
        play({"topic_settings": {"topic": "output", "settings": {"no.such": 1}}}).begin()
    assert cluster.topics["out"].settings == BEFORE


def test_truth_values_are_written_as_kafka_writes_them(cluster: FakeCluster, play: Play) -> None:
    play({"topic_settings": {"topic": "err", "settings": {"preallocate": True}}}).begin()
    assert cluster.topics["err"].settings == {"preallocate": "true"}


def test_each_setting_is_claimed_for_it_alone_by_the_topic_that_is_meant() -> None:
    fault = parse_do({"topic_settings": {"topic": "output", "settings": {"max.message.bytes": 1, "retention.ms": 2}}})
    assert fault.claims({"output": "out"}) == {"topic out: max.message.bytes", "topic out: retention.ms"}
    assert fault.claims({}) == {"topic output: max.message.bytes", "topic output: retention.ms"}


def test_no_settings_are_refused() -> None:
    with pytest.raises(ValidationError):
        parse_do({"topic_settings": {"topic": "output", "settings": {}}})
