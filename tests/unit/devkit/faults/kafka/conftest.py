from datetime import timedelta
from types import SimpleNamespace

import pytest

from devkit.faults.kafka import cluster as module
from tests.unit.devkit.faults.kafka.fake_cluster import Case, FakeAdmin, FakeCluster, FakeTopic, Play


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    """Three brokers; `out` with replicas on each, `err` with one on the first."""
    made = FakeCluster({"out": FakeTopic([[1, 2, 3], [2, 3, 1]]), "err": FakeTopic([[1]])})

    def admin(*, bootstrap_servers: list[str], bootstrap_timeout_ms: int) -> FakeAdmin:
        assert bootstrap_servers == ["broker:1"]
        assert bootstrap_timeout_ms
        return FakeAdmin(made)

    def ends(bootstrap: str) -> SimpleNamespace:
        assert bootstrap == "broker:1"
        return SimpleNamespace(
            of=lambda topic: {0: made.topics[topic].records} | made.topics[topic].records_above, close=lambda: None
        )

    monkeypatch.setattr(module, "KafkaAdminClient", admin)
    monkeypatch.setattr(module, "TopicEnds", ends)
    monkeypatch.setattr(module, "_LEARNING", timedelta(0))
    return made


@pytest.fixture
def play(cluster: FakeCluster) -> Play:
    """Makes a fault of what is written."""
    return lambda written, **options: Case(cluster, written, **options)
