"""A start that waits for brokers, with clients that fail and a clock that goes on by itself."""

from typing import Any

import pytest
from kafka.errors import KafkaTimeoutError

from pipeline import log
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import PipelineError, RefusedError
from pipeline.events import BrokersAwaited
from pipeline.kafka import access as broker_wait
from pipeline.kafka.access import await_brokers
from pipeline.kafka.cluster import BrokersAt
from tests.unit.pipeline.making import make_config

AWAY = KafkaTimeoutError("Unable to bootstrap from a:1")
LOGIN = {"security_protocol": "SASL_PLAINTEXT", "username": "job", "password": "pw"}


class Brokers:
    """Those of each cluster fail so many times. An attempt takes all of its time, a pause all of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: Exception = AWAY, **failures: int) -> None:
        self.error, self.failures = error, failures
        self.now = 0.0
        self.asked: list[tuple[str, float]] = []
        self.said: list[BrokersAwaited] = []
        monkeypatch.setattr(broker_wait, "admin_at", self.admin_at)
        monkeypatch.setattr(log, "emit", self.said.append)

    def admin_at(self, brokers: BrokersAt, *, within_s: float) -> Any:
        name = str(brokers).partition(":")[0]
        self.asked.append((name, within_s))
        if self.failures[name]:
            self.failures[name] -= 1
            self.now += within_s
            raise self.error
        return self

    def close(self) -> None:
        pass

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def await_them(self, config: PipelineConfig) -> None:
        await_brokers(config, clock=lambda: self.now, sleep=self.sleep)


def config(source: str = "a:1", sink: str = "a:1", **sections: Any) -> PipelineConfig:
    at = {"source": {"bootstrap_servers": source}, "sink": {"bootstrap_servers": sink}}
    return make_config(**at, stall_timeout="60s", **sections)


def test_brokers_that_answer_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers(monkeypatch, a=0, b=0)
    brokers.await_them(config())
    assert [name for name, _ in brokers.asked] == ["a"]
    brokers.await_them(config(sink="b:1"))
    assert [name for name, _ in brokers.asked] == ["a", "a", "b"]
    assert (brokers.said, brokers.now) == ([], 0)


def test_the_log_says_why_it_waits_and_how_long_it_will(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers(monkeypatch, a=3)
    brokers.await_them(config())
    assert [one.remaining_s for one in brokers.said] == [58.0, 52.5, 42.0]
    assert {(one.bootstrap, one.reason) for one in brokers.said} == {("a:1", f"KafkaTimeoutError: {AWAY}")}


def test_source_and_sink_have_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers(monkeypatch, a=5, b=1000)
    with pytest.raises(
        PipelineError, match=r"^kafka broker unreachable at b:1 \(.*\); the start waited 60 s$"
    ) as ended:
        brokers.await_them(config(sink="b:1"))
    assert ended.value.exit_code == 1
    assert "bootstrap_servers" in str(ended.value.hint)
    assert brokers.now == 60
    remaining = [one.remaining_s for one in brokers.said]
    assert remaining == sorted(remaining, reverse=True)


def test_a_login_that_is_refused_ends_the_start_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers(monkeypatch, OSError("SaslAuthenticationFailedError: wrong"), a=1000)
    with pytest.raises(RefusedError, match="does not let the job in"):
        brokers.await_them(config(kafka=LOGIN))
    assert (len(brokers.asked), brokers.said) == (1, [])
    away = Brokers(monkeypatch, a=2)
    away.await_them(config(kafka=LOGIN))
    assert len(away.said) == 2, "brokers with a login are waited for too"
