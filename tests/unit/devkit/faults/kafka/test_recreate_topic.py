import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from devkit.faults.fault import MadeTopic, Undo
from devkit.faults.kafka import recreate_topic
from tests.unit.devkit.faults.kafka.fake_cluster import FakeCluster, Play

AGAIN = {"recreate_topic": {"topic": "output"}}


def test_a_topic_is_made_again_as_it_was_and_its_records_are_gone(cluster: FakeCluster, play: Play) -> None:
    cluster.topics["out"].settings, cluster.topics["out"].records = {"retention.ms": "5"}, 7
    case = play(AGAIN)
    proof = case.begin().end()
    options = {"num_partitions": 2, "replication_factor": 3, "configs": {"retention.ms": "5"}}
    assert cluster.asked == [("delete_topics", ["out"]), ("create_topics", {"out": options})]
    assert proof.acted
    gone = r"7 records by its end offsets, and what was written in the 0\.\d{3} s from then until it was gone"
    assert re.fullmatch(f"topic out was deleted with {gone}; and it was made again", proof.did)
    assert re.fullmatch(f"no audit can see what went with topic out: {gone}", proof.hides)
    assert [plan.irreversible for plan in case.plans] == ["the records that topic out had are gone"]


def test_what_is_written_while_it_prepares_is_counted(cluster: FakeCluster, play: Play) -> None:
    case = play(AGAIN)
    journal = case.context.plan

    def plan(undo: Undo) -> None:
        journal(undo)
        cluster.topics["out"].records = 9

    case.context = replace(case.context, plan=plan)
    assert case.begin().end().did.startswith("topic out was deleted with 9 records by its end offsets")


def test_the_time_without_a_count_lasts_until_the_new_topic_is_there(
    cluster: FakeCluster, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a topic that had no records: some may have been written then."""
    monkeypatch.setattr(recreate_topic, "time", SimpleNamespace(monotonic=lambda: float(len(cluster.asked))))
    cluster.still_deleting = 2
    assert "0 records by its end offsets, and what was written in the 4.000 s" in play(AGAIN).begin().end().hides


def test_it_waits_for_a_deletion_that_takes_its_time(cluster: FakeCluster, play: Play) -> None:
    cluster.still_deleting = 2
    assert play(AGAIN).begin().end().acted
    assert cluster.calls() == ["delete_topics", *["create_topics"] * 3]


@pytest.mark.parametrize(("records", "unreached"), [(0, "the new topic out"), (1, "")])
def test_the_new_topic_needs_a_record(cluster: FakeCluster, play: Play, records: int, unreached: str) -> None:
    cluster.topics["out"].records = 7
    acting = play(AGAIN).begin()
    acting.end()
    cluster.topics["out"].records = records
    assert isinstance(acting, MadeTopic)
    assert acting.unreached() == unreached
