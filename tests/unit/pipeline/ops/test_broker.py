from typing import Any

import pytest
from kafka.errors import KafkaTimeoutError

from pipeline.errors import PipelineError
from pipeline.ops import broker


class FakeAdmin:
    """Answers once, or with a failure, and may not be left open."""

    def __init__(self, answer: dict[str, Any] | Exception) -> None:
        self.answer = answer
        self.closed = False

    def describe_cluster(self) -> dict[str, Any]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(("answer", "found"), [({"cluster_id": "c1"}, "c1"), ({"cluster_id": ""}, None), ({}, None)])
def test_the_id_of_a_cluster(answer: dict[str, Any], found: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    admin = FakeAdmin(answer)
    monkeypatch.setattr(broker, "KafkaAdminClient", lambda **_: admin)
    assert broker.cluster_id("broker:1") == found
    assert admin.closed


def test_a_cluster_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    admin = FakeAdmin(KafkaTimeoutError("gone"))
    monkeypatch.setattr(broker, "KafkaAdminClient", lambda **_: admin)
    with pytest.raises(PipelineError, match=r"Kafka at broker:1 does not answer: .*gone"):
        broker.cluster_id("broker:1")
    assert admin.closed


def test_an_address_that_is_none_is_named() -> None:
    with pytest.raises(PipelineError, match="Kafka at localhost:abc does not answer"):
        broker.cluster_id("localhost:abc")
