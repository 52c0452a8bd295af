"""The ledger's topic is made as it has to be, and one that would lose entries is refused."""

import uuid
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import pytest
from kafka.admin import ConfigFilterType, ConfigResource, NewTopic
from kafka.errors import KafkaTimeoutError, TopicAlreadyExistsError

from pipeline import log
from pipeline.deferral import topic_settings
from pipeline.deferral.ledger_start import LedgerMark, LedgerStart, ledger_start
from pipeline.deferral.topic_settings import TopicFacts, require_topic, topic_id
from pipeline.errors import PipelineError, RefusedError
from tests.unit.described_configs import described_configs

RIGHT = {"cleanup.policy": "compact", "max.message.bytes": "500"}


@dataclass
class Admin:
    """Refuses to make the topic as often as there are `refusals`; `another` driver may make it in the meantime."""

    settings: dict[str, str] = field(default_factory=lambda: dict(RIGHT))
    listed: bool = False
    replicas: int = 3
    refusals: list[Exception] = field(default_factory=list)
    another: bool = False
    made: list[NewTopic] = field(default_factory=list)
    closed: bool = False

    def describe_topics(self) -> list[dict[str, Any]]:
        return [
            {"name": "other", "partitions": [{}]},
            {
                "name": "ledger",
                "topic_id": OWN,
                "partitions": [{"replica_nodes": list(range(self.replicas))}] if self.listed else [],
            },
        ]

    def create_topics(self, topics: list[NewTopic], timeout_ms: int) -> None:
        if self.refusals:
            self.listed = self.another
            raise self.refusals.pop()
        self.made += topics
        self.listed = True

    def describe_configs(
        self, resources: list[ConfigResource], config_filter: ConfigFilterType | str = "modified"
    ) -> dict[str, Any]:
        settings = {name: (value, "DYNAMIC_TOPIC_CONFIG") for name, value in self.settings.items()}
        return described_configs({"ledger": settings}, resources, config_filter)

    def close(self) -> None:
        self.closed = True


Require = Callable[..., TopicFacts]
OWN = uuid.UUID(int=5)
FIRST = ledger_start(new=True, known=None, wish=None)


@pytest.fixture
def require(monkeypatch: pytest.MonkeyPatch) -> Require:
    """Asks for the topic; every look costs a second of a clock that nobody waits for."""

    def go(admin: Admin, start: LedgerStart = FIRST) -> TopicFacts:
        now = 0.0

        def clock() -> float:
            nonlocal now
            now += 1
            return now

        monkeypatch.setattr(topic_settings, "KafkaAdminClient", lambda bootstrap_servers: admin)
        return require_topic(
            "broker:1", "ledger", max_record_bytes=1000, start=start, clock=clock, sleep=lambda _: None
        )

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


@pytest.mark.parametrize(("takes", "limit"), [("500", 500), ("1000", 1000), ("99999", 1000)])
def test_one_that_is_there_is_left_as_it_is_and_the_smaller_limit_counts(
    require: Require, takes: str, limit: int
) -> None:
    admin = Admin(settings=RIGHT | {"max.message.bytes": takes}, listed=True)
    assert require(admin) == TopicFacts(limit, str(OWN))
    assert admin.made == []


def test_another_driver_may_make_it_first(require: Require) -> None:
    admin = Admin(refusals=[TopicAlreadyExistsError()], another=True)
    assert require(admin).limit_bytes == 500
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


@pytest.mark.parametrize(
    ("settings", "replicas", "message"),
    [
        ({"cleanup.policy": "delete"}, 3, "has cleanup.policy 'delete', and would forget"),
        ({"cleanup.policy": "compact,delete"}, 3, "has cleanup.policy 'compact,delete', and would forget"),
        ({"min.compaction.lag.ms": "3599999"}, 3, "has min.compaction.lag.ms 3599999"),
        ({"unclean.leader.election.enable": "true"}, 3, "has unclean.leader.election.enable true"),
        ({"min.insync.replicas": "2"}, 1, "has min.insync.replicas 2 and 1 replica: nothing would ever"),
        ({"min.insync.replicas": "3"}, 2, "has min.insync.replicas 3 and 2 replicas"),
    ],
)
def test_settings_that_could_lose_entries_are_refused(
    require: Require, settings: dict[str, str], replicas: int, message: str
) -> None:
    admin = Admin(settings=RIGHT | settings, listed=True, replicas=replicas)
    with pytest.raises(RefusedError, match=message) as caught:
        require(admin)
    assert caught.value.hint
    assert admin.closed


def test_settings_that_nobody_tells_are_an_error(require: Require) -> None:
    with pytest.raises(PipelineError, match="settings of ledger topic ledger cannot be read"):
        require(Admin(settings={}, listed=True))


@pytest.mark.parametrize(
    ("listed", "known", "message", "hint"),
    [
        # An empty one in its place would be the loss of what is deferred.
        (False, OWN, "ledger topic ledger at broker:1 is not there", "--discard-ledger"),
        (True, uuid.UUID(int=6), "is not the one of this checkpoint", ""),
        (True, OWN, "", ""),
    ],
    ids=["no topic", "another topic of the name", "its own"],
)
def test_a_restart_makes_nothing_and_takes_its_own_topic_alone(
    require: Require, listed: bool, known: uuid.UUID, message: str, hint: str
) -> None:
    admin = Admin(listed=listed)
    restart = ledger_start(new=False, known=LedgerMark("ledger", str(known), 1), wish=None)
    with pytest.raises(RefusedError, match=message) if message else nullcontext() as caught:
        require(admin, restart)
    assert not message or hint in str(caught.value.hint)
    assert admin.made == []
    assert admin.closed


@pytest.mark.parametrize("found", [None, uuid.UUID(int=0)])
def test_an_old_broker_has_no_ids(found: uuid.UUID | None) -> None:
    assert topic_id({"topic_id": found}) is None
    assert topic_id({}) is None


@pytest.mark.parametrize(("replicas", "lines"), [(1, [1]), (2, [2]), (3, [])])
def test_few_replicas_are_a_risk_that_is_logged(
    require: Require, monkeypatch: pytest.MonkeyPatch, replicas: int, lines: list[int]
) -> None:
    events: list[Any] = []
    monkeypatch.setattr(log, "emit", events.append)
    require(Admin(settings=RIGHT | {"min.insync.replicas": "1"}, listed=True, replicas=replicas))
    assert [line.replicas for line in events] == lines
