import pytest
from pydantic import ValidationError

from devkit.errors import StackError
from devkit.faults.do import parse_do
from tests.unit.devkit.faults.kafka.fake_cluster import EVERYBODY, FakeCluster, Play

OF_ONE = {"client_quota": {"client": "held", "produce": "100KiB"}}


def test_a_client_is_held_back_until_the_end(cluster: FakeCluster, play: Play) -> None:
    acting = play(OF_ONE).begin()
    assert cluster.quotas["held"] == {"producer_byte_rate": 102400.0}
    proof = acting.end()
    assert proof.acted
    assert proof.did == (
        "the broker had producer_byte_rate 102400 for client held, and has what it had before; "
        "whom that slowed is not measured"
    )
    assert cluster.quotas["held"] == {}


def test_what_was_set_before_is_set_again(cluster: FakeCluster, play: Play) -> None:
    cluster.quotas["held"] = {"producer_byte_rate": 5.0, "consumer_byte_rate": 6.0}
    case = play(OF_ONE)
    case.begin()
    assert cluster.quotas["held"] == {"producer_byte_rate": 102400.0, "consumer_byte_rate": 6.0}
    case.undo_from_journal()
    case.undo_from_journal()
    assert cluster.quotas["held"] == {"producer_byte_rate": 5.0, "consumer_byte_rate": 6.0}


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


def test_a_quota_that_was_there_before_changes_nothing(cluster: FakeCluster, play: Play) -> None:
    cluster.quotas["held"] = {"producer_byte_rate": 102400.0}
    proof = play(OF_ONE).begin().end()
    did = "what was asked for client held was so before: nothing changed"
    assert (proof.acted, proof.did) == (False, did)
    assert cluster.quotas["held"] == {"producer_byte_rate": 102400.0}


def test_the_later_of_two_equal_quotas_changes_nothing_and_claims_nothing(cluster: FakeCluster, play: Play) -> None:
    first = play(OF_ONE).begin()
    second = play(OF_ONE)
    later = second.fault.begin(second.context)
    assert first.end().acted
    assert cluster.quotas["held"] == {}
    assert later.end().did == "what was asked for client held was so before: nothing changed"


def test_what_the_broker_refuses_is_said(cluster: FakeCluster, play: Play) -> None:
    cluster.deaf = frozenset({"refused"})
    with pytest.raises(StackError, match="Kafka refused the quota: no such quota"):
        play(OF_ONE).begin()


def test_each_quota_of_a_client_is_claimed_for_it_alone() -> None:
    fault = parse_do({"client_quota": {"fetch": 1000, "request_percentage": 20}})
    assert fault.claims({}) == {"consumer_byte_rate of each client", "request_percentage of each client"}
    assert parse_do(OF_ONE).claims({}) == {"producer_byte_rate of client held"}


def test_a_quota_without_end_is_refused() -> None:
    with pytest.raises(ValidationError, match="finite number"):
        parse_do({"client_quota": {"request_percentage": float("inf")}})


def test_no_quota_is_refused() -> None:
    with pytest.raises(ValidationError, match="give one of produce, fetch"):
        parse_do({"client_quota": {"client": "held"}})
