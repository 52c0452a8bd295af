from dataclasses import replace

import pytest
from pydantic import ValidationError

from devkit.errors import StackError
from devkit.faults.do import parse_do
from devkit.faults.fault import Undo
from tests.unit.devkit.faults.kafka.fake_cluster import FakeCluster, Play

AGAIN = {"recreate_topic": {"topic": "output"}}


def test_a_topic_is_made_again_as_it_was_and_its_records_are_gone(cluster: FakeCluster, play: Play) -> None:
    cluster.topics["out"].settings, cluster.topics["out"].records = {"retention.ms": "5"}, 7
    case = play(AGAIN)
    proof = case.begin().end()
    options = {"num_partitions": 2, "replication_factor": 3, "configs": {"retention.ms": "5"}}
    assert cluster.asked == [("delete_topics", ["out"]), ("create_topics", {"out": options})]
    assert (proof.acted, proof.did) == (True, "topic out was deleted with at least 7 records, and made again")
    assert proof.hides == "at least 7 records went with topic out, and no audit can see them"
    assert [plan.irreversible for plan in case.plans] == ["the records that topic out had are gone"]


def test_what_is_written_while_it_prepares_is_counted(cluster: FakeCluster, play: Play) -> None:
    case = play(AGAIN)
    journal = case.context.plan

    def plan(undo: Undo) -> None:
        journal(undo)
        cluster.topics["out"].records = 9

    case.context = replace(case.context, plan=plan)
    assert case.begin().end().did == "topic out was deleted with at least 9 records, and made again"


def test_a_topic_without_records_hides_nothing(play: Play) -> None:
    assert play(AGAIN).begin().end().hides == ""


def test_it_waits_for_a_deletion_that_takes_its_time(cluster: FakeCluster, play: Play) -> None:
    cluster.still_deleting = 2
    assert play(AGAIN).begin().end().acted
    assert cluster.calls() == ["delete_topics", *["create_topics"] * 3]


def test_the_topic_of_before_is_no_proof(cluster: FakeCluster, play: Play) -> None:
    cluster.deaf = frozenset({"delete_topics", "create_topics"})
    proof = play(AGAIN).begin().end()
    assert (proof.acted, proof.did, proof.hides) == (False, "topic out is the one of before", "")


@pytest.mark.parametrize("topic", ["source", "in", "out"])
def test_only_output_and_error_can_be_made_again(topic: str) -> None:
    """The source's offsets are what the audit knows events by."""
    with pytest.raises(ValidationError, match="'output' or 'error'"):
        parse_do({"recreate_topic": {"topic": topic}})


def test_too_few_brokers_for_its_replicas_are_told(cluster: FakeCluster, play: Play) -> None:
    cluster.brokers = (1,)
    with pytest.raises(StackError, match="Kafka at broker:1 refused"):
        play(AGAIN).begin()
