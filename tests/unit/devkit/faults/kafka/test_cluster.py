"""How faults come to a cluster, and what they are told when it does not answer or refuses."""

from datetime import timedelta

import pytest
from kafka import KafkaAdminClient
from kafka.errors import KafkaConnectionError, KafkaError, KafkaTimeoutError

from devkit.errors import StackError
from devkit.faults.kafka import cluster as module
from tests.unit.devkit.faults.kafka.fake_cluster import FakeCluster


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
