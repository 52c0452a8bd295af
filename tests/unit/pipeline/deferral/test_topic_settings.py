"""The ledger's topic is made as it has to be, and one that would lose entries is refused."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from kafka.admin import NewTopic
from kafka.errors import KafkaTimeoutError, TopicAlreadyExistsError

from pipeline.deferral import topic_settings
from pipeline.deferral.topic_settings import require_topic
from pipeline.errors import PipelineError, RefusedError

RIGHT = {"cleanup.policy": "compact", "max.message.bytes": "500"}


@dataclass
class Admin:
    """Refuses to make the topic as often as there are `refusals`; `another` driver may make it in the meantime."""

    settings: dict[str, str] = field(default_factory=lambda: dict(RIGHT))
    listed: bool = False
    refusals: list[Exception] = field(default_factory=list)
    another: bool = False
    made: list[NewTopic] = field(default_factory=list)
    closed: bool = False

    def describe_topics(self) -> list[dict[str, Any]]:
        return [
            {"name": "other", "partitions": [{}]},
            {"name": "ledger", "partitions": [{}] if self.listed else []},
        ]

    def create_topics(self, topics: list[NewTopic], timeout_ms: int) -> None:
        if self.refusals:
            self.listed = self.another
            raise self.refusals.pop()
        self.made += topics
        self.listed = True

    def describe_configs(self, resources: list[Any], config_filter: Any) -> dict[str, Any]:
        return {"topic": {"ledger": {name: {"value": value} for name, value in self.settings.items()}}}

    def close(self) -> None:
        self.closed = True


Require = Callable[[Admin], int]


@pytest.fixture
def require(monkeypatch: pytest.MonkeyPatch) -> Require:
    """Asks for the topic; every look costs a second of a clock that nobody waits for."""

    def go(admin: Admin) -> int:
        now = 0.0

        def clock() -> float:
            nonlocal now
            now += 1
            return now

        monkeypatch.setattr(topic_settings, "KafkaAdminClient", lambda bootstrap_servers: admin)
        return require_topic("broker:1", "ledger", max_record_bytes=1000, clock=clock, sleep=lambda _: None)

    return go


def test_it_is_made_compacted_and_takes_what_the_producer_takes(require: Require) -> None:
    admin = Admin()
    require(admin)
    (made,) = admin.made
    assert (made.name, made.num_partitions) == ("ledger", 1)
    assert made.topic_configs["cleanup.policy"] == "compact"
    assert int(made.topic_configs["min.compaction.lag.ms"]) >= 3_600_000
    assert made.topic_configs["max.message.bytes"] == "1000"
    assert int(made.topic_configs["segment.bytes"]) > 2 * 1000
    assert admin.closed


def test_one_that_is_there_is_left_as_it_is(require: Require) -> None:
    admin = Admin(listed=True)
    assert require(admin) == 500
    assert admin.made == []


@pytest.mark.parametrize(("takes", "limit"), [("500", 500), ("1000", 1000), ("99999", 1000)])
def test_the_smaller_of_the_two_limits_counts(require: Require, takes: str, limit: int) -> None:
    assert require(Admin(settings=RIGHT | {"max.message.bytes": takes}, listed=True)) == limit


def test_another_driver_may_make_it_first(require: Require) -> None:
    admin = Admin(refusals=[TopicAlreadyExistsError()], another=True)
    assert require(admin) == 500
    assert admin.made == []


@pytest.mark.parametrize("refusal", [TopicAlreadyExistsError(), KafkaTimeoutError("busy")])
def test_one_that_is_being_deleted_is_waited_for_and_made(require: Require, refusal: Exception) -> None:
    admin = Admin(refusals=[refusal] * 5)
    require(admin)
    assert [made.name for made in admin.made] == ["ledger"]


def test_one_that_never_goes_away_is_named(require: Require) -> None:
    admin = Admin(refusals=[TopicAlreadyExistsError()] * 100)
    with pytest.raises(PipelineError, match="ledger at broker:1 could not be made within 60 s") as caught:
        require(admin)
    assert "is it being deleted?" in str(caught.value.hint)
    assert not isinstance(caught.value, RefusedError)
    assert admin.closed


@pytest.mark.parametrize("policy", ["delete", "compact,delete"])
def test_a_topic_that_forgets_is_refused(require: Require, policy: str) -> None:
    admin = Admin(settings=RIGHT | {"cleanup.policy": policy}, listed=True)
    with pytest.raises(RefusedError, match=f"has cleanup.policy '{policy}', and would forget"):
        require(admin)
    assert admin.closed


def test_settings_that_nobody_tells_are_an_error(require: Require) -> None:
    with pytest.raises(PipelineError, match="settings of ledger topic ledger cannot be read"):
        require(Admin(settings={}, listed=True))
