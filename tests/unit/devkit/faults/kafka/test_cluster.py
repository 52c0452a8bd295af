"""How faults come to a cluster, and what they are told when it does not answer or refuses."""

import pytest
from kafka.errors import KafkaError, KafkaTimeoutError

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
