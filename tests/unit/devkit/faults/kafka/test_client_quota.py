from tests.unit.devkit.faults.kafka.fake_cluster import EVERYBODY, FakeCluster, Play

OF_ONE = {"client_quota": {"client": "held", "produce": "100KiB"}}


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
