"""How faults come to a cluster, and what each does there and undoes."""

import re
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from kafka import KafkaAdminClient
from kafka.errors import KafkaConnectionError, KafkaError, KafkaTimeoutError, NoReassignmentInProgressError

from devkit.errors import StackError
from devkit.faults.fault import MadeTopic, Undo
from devkit.faults.kafka import cluster as module
from devkit.faults.kafka import recreate_topic
from tests.unit.devkit.faults.kafka.fake_cluster import EVERYBODY, FakeCluster, Play

AGAIN = {"recreate_topic": {"topic": "output"}}
GROWS = {"add_partitions": {"topic": "output", "partitions": 5}}
SETS = {"topic_settings": {"topic": "output", "settings": {"max.message.bytes": 1000, "retention.ms": "5"}}}
BEFORE = {"retention.ms": "86400000"}
MOVES = {"move_leader": {"topic": "output", "partition": 1}}
REASSIGNS = {"reassign": {"topic": "error", "to": [2, 3], "throttle": "1MiB"}}
RATES = {"leader.replication.throttled.rate": "1048576", "follower.replication.throttled.rate": "1048576"}
OF_ONE = {"client_quota": {"client": "held", "produce": "100KiB"}}


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


@pytest.mark.parametrize(
    ("written", "records", "unreached"),
    [
        (AGAIN, {"records": 0}, "the new topic out"),
        (AGAIN, {"records": 1}, ""),
        (GROWS, {"records_above": {}}, "partitions 2 to 4 of topic out"),
        (GROWS, {"records_above": {1: 9}}, "partitions 2 to 4 of topic out"),  # an old one
        ({"add_partitions": {"topic": "output", "partitions": 3}}, {"records_above": {}}, "partition 2 of topic out"),
        (GROWS, {"records_above": {4: 1}}, ""),
    ],
)
def test_what_is_new_needs_a_record(
    cluster: FakeCluster, play: Play, written: dict[str, object], records: dict[str, Any], unreached: str
) -> None:
    cluster.topics["out"].records = 7
    acting = play(written).begin()
    acting.end()
    vars(cluster.topics["out"]).update(records)
    assert isinstance(acting, MadeTopic)
    assert acting.unreached() == unreached


@pytest.mark.parametrize("is_guest", [False, True], ids=["with its cluster", "outlives the run"])
def test_a_topic_grows_and_that_cannot_be_undone(cluster: FakeCluster, play: Play, *, is_guest: bool) -> None:
    case = play(GROWS, is_guest=is_guest)
    case.begin()
    assert cluster.asked == [("create_partitions", {"out": 5})]
    (plan,) = case.plans
    assert (plan.irreversible, plan.outlives_run) == ("topic out has 5 partitions where it had 2", is_guest)
    assert not case.fault.lasts


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


def test_a_partition_moves_under_a_throttle_that_goes_with_the_fault(cluster: FakeCluster, play: Play) -> None:
    cluster.broker_settings = {1: {}, 2: {"log.cleaner.threads": "2"}, 3: {}}
    acting = play(REASSIGNS).begin()
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
    acting = play(REASSIGNS).begin()
    cluster.refusals = {"move": NoReassignmentInProgressError}
    assert acting.end().acted


def test_what_is_not_set_is_as_it_was(cluster: FakeCluster, play: Play) -> None:
    cluster.quotas["held"] = {"producer_byte_rate": 5.0, "consumer_byte_rate": 6.0}
    play(OF_ONE).begin()
    assert cluster.quotas["held"] == {"producer_byte_rate": 102400.0, "consumer_byte_rate": 6.0}


def test_without_a_client_it_holds_for_each(cluster: FakeCluster, play: Play) -> None:
    case = play({"client_quota": {"fetch": 1000, "request_percentage": 20}}, is_guest=True)
    proof = case.begin().end()
    given = {"consumer_byte_rate": 1000.0, "request_percentage": 20.0}
    assert cluster.asked[0] == ("quota", (EVERYBODY, given))
    assert "for each client" in proof.did
    assert cluster.quotas[EVERYBODY] == {}
    assert case.plans[0].outlives_run
    case.undo_from_journal()
    assert cluster.asked[-1] == ("quota", (EVERYBODY, dict.fromkeys(given)))


def test_a_quota_that_is_gone_is_no_proof(cluster: FakeCluster, play: Play) -> None:
    acting = play(OF_ONE).begin()
    cluster.quotas["held"].clear()
    proof = acting.end()
    assert (proof.acted, "had no producer_byte_rate" in proof.did) == (False, True)


def test_the_later_of_two_equal_quotas_changes_nothing_and_claims_nothing(cluster: FakeCluster, play: Play) -> None:
    first = play(OF_ONE).begin()
    second = play(OF_ONE)
    later = second.fault.begin(second.context)
    assert first.end().acted
    assert cluster.quotas["held"] == {}
    assert later.end().did == "what was asked for client held was so before: nothing changed"


def test_a_broker_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(**_: object) -> None:
        raise KafkaTimeoutError("nobody")

    monkeypatch.setattr(module, "KafkaAdminClient", nobody)
    with (
        pytest.raises(StackError, match="Kafka at broker:1 does not answer: KafkaTimeoutError: nobody"),
        module.cluster("broker:1"),
    ):
        pass


def test_what_kafka_raises_is_an_error_of_the_stack_and_the_client_is_closed(cluster: FakeCluster) -> None:
    with pytest.raises(StackError, match=r"Kafka at broker:1 refused: .*no"), module.cluster("broker:1"):
        raise KafkaError("no")
    assert cluster.closed == 1


def test_a_broker_that_is_dead_for_a_while_is_asked_again(cluster: FakeCluster) -> None:
    silences = [KafkaConnectionError("111 ECONNREFUSED")] * 2

    def list_topics(admin: KafkaAdminClient) -> list[str]:
        if silences:
            raise silences.pop()
        return list(admin.list_topics())

    with module.cluster("broker:1") as kafka:
        assert kafka.ask(list_topics) == list(cluster.topics)
        assert cluster.closed == 2, "by a client that has not chosen that broker"


@pytest.mark.usefixtures("cluster")
def test_one_that_stays_dead_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BACK", timedelta(0))

    def refused(_admin: KafkaAdminClient) -> None:
        raise KafkaConnectionError("111 ECONNREFUSED")

    with (
        pytest.raises(StackError, match="Kafka at broker:1 does not answer: KafkaConnectionError: 111 ECONNREFUSED"),
        module.cluster("broker:1") as kafka,
    ):
        kafka.ask(refused)


@pytest.mark.parametrize(
    ("stated", "known"),
    [
        ("cluster-a", "cluster-a"),
        ("5L6g3nShT-eMCtK--X86sw", "5L6g3nShT-eMCtK--X86sw at broker:1, broker:2, broker:3"),
    ],
    ids=["an id of its own", "one of an image has addresses too"],
)
def test_a_cluster_is_known_by_its_id(cluster: FakeCluster, stated: str, known: str) -> None:
    cluster.cluster_id = stated
    assert module.cluster_id("broker:1") == known
