"""What is asked, warned of and refused before the query runs."""

import re
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline import log
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.start_position import NewStart, parse_new
from pipeline.deferral import ledger_log
from pipeline.deferral.ledger_start import LedgerMark, LedgerWish
from pipeline.deferral.topic import LedgerTopic
from pipeline.driver import query as module
from pipeline.driver.identity import Identity
from pipeline.driver.job_checkpoint import CheckpointContent
from pipeline.driver.start_warnings import start_warnings
from pipeline.driver.stop import stop_early
from pipeline.errors import PipelineError, RefusedError
from pipeline.events import BrokersRepeated, ContactMissing
from pipeline.kafka import access, broker_limits
from pipeline.kafka.limit_rules import Limits
from pipeline.memory.budget import Budget
from pipeline.ops.spark_checkpoint import SparkCheckpoint
from tests.unit.pipeline.conftest import MakeConfig

NO_CLASS = "first\nCaused by: java.lang.ClassNotFoundException: kafka"
NO_JAVA = "[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number."


@pytest.mark.parametrize(
    ("failure", "home", "message", "hint"),
    [
        (NO_CLASS, None, "could not begin: java.lang.ClassNotFoundException: kafka", "classpath"),
        (NO_JAVA, "/opt/java-8", "JAVA_GATEWAY_EXITED", "^JAVA_HOME is /opt/java-8: .*jdk.incubator.vector"),
        (NO_JAVA, None, "JAVA_GATEWAY_EXITED", "^JAVA_HOME is not set, so it is the `java`.*jdk.incubator.vector"),
    ],
    ids=["a class is missing", "Java does not start", "the Java of the path does not start"],
)
def test_what_fails_before_the_query_runs_is_told_with_what_it_needs(
    make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch, failure: str, home: str | None, message: str, hint: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError(failure)

    monkeypatch.setattr(module, "_begin", fail)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if home:
        monkeypatch.setenv("JAVA_HOME", home)
    with pytest.raises(PipelineError, match=message) as caught:
        module.run(Budget(make_config()), None)
    assert re.search(hint, str(caught.value.hint), re.DOTALL)


NEW = parse_new("earliest", datetime(2026, 1, 1, tzinfo=UTC))
LEDGER = LedgerMark("ledger", "id-1", 1)
ANOTHER = Identity(job="html-enrichment", source="no.such", cluster="c1", sink="html").model_dump_json()


def found(topic: str | None = None, identity: str | None = None) -> CheckpointContent:
    """A checkpoint that begins at the topic's beginning, or has no position."""
    start = None if topic is None else {topic: {0: 0}}
    return CheckpointContent(SparkCheckpoint("unused", frozenset(), None, start, (), (), ()), identity)


@dataclass
class Start:
    """What a start takes of a checkpoint, and the marks that it writes."""

    monkeypatch: pytest.MonkeyPatch
    written: list[str] = field(default_factory=list)

    def take(self, config: PipelineConfig, at: CheckpointContent, new: NewStart | None, **given: Any) -> Any:
        """By a job of cluster c1 with 3 slots, if nothing else is given."""
        self.monkeypatch.setattr(module, "read_content", lambda *_: at)
        spark: Any = SimpleNamespace()
        own = given.get("own", Identity.of(config, "c1"))
        return module._take_checkpoint(spark, config, new, own, slots=given.get("slots", 3))

    def mark(self, taken: Any, ledger: LedgerMark | None = LEDGER) -> None:
        spark: Any = SimpleNamespace()
        module._mark_checkpoint(spark, taken, ledger)


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    start = Start(monkeypatch)
    monkeypatch.setattr(log, "emit", lambda _: None)
    monkeypatch.setattr(module, "write_text", lambda *args: start.written.append(args[-1]))
    return start


@pytest.mark.parametrize("mark", [ANOTHER, "", None], ids=["another's", "half a mark", "none"])
def test_a_mark_without_a_position_does_not_stop_a_new_start(
    make_config: MakeConfig, start: Start, mark: str | None
) -> None:
    """A start that failed has left it."""
    config = make_config()
    taken = start.take(config, found(identity=mark), NEW)
    assert start.written == [], "what the start may still refuse leaves nothing"
    start.mark(taken)
    assert start.written == [Identity.of(config, "c1").model_copy(update={"ledger": LEDGER}).model_dump_json()]


def test_a_mark_is_completed_once(make_config: MakeConfig, start: Start) -> None:
    config = make_config()
    own = Identity.of(config, "c1", {config.source.topic: "a"})
    for mark in (Identity.of(config, None), own.model_copy(update={"ledger": LEDGER})):
        start.mark(start.take(config, found(config.source.topic, mark.model_dump_json()), None, own=own))
    assert start.written == [own.model_copy(update={"ledger": LEDGER}).model_dump_json()]


@pytest.mark.parametrize("new", [NEW, None])
def test_a_mark_with_a_position_does(make_config: MakeConfig, start: Start, new: NewStart | None) -> None:
    with pytest.raises(RefusedError, match="is another job's: source topic no"):
        start.take(make_config(), found("no.such", ANOTHER), new)
    assert start.written == []


@pytest.mark.parametrize(("new", "name"), [(NEW, NEW.name), (None, "earliest")])
def test_the_incidents_policy_begins_at_the_beginning_where_there_is_no_checkpoint(
    make_config: MakeConfig, start: Start, new: NewStart | None, name: str
) -> None:
    assert start.take(make_config(missing_checkpoint="earliest"), found(), new).new.name == name


def test_the_state_is_fixed_by_the_first_start(make_config: MakeConfig, start: Start) -> None:
    config = make_config(source={"deduplicate": {"within": "10m"}})
    start.mark(start.take(config, found(), NEW, slots=3), None)
    taken = start.take(config, found(config.source.topic, start.written[0]), None, slots=8)
    assert taken.own.state.partitions == 3
    with pytest.raises(RefusedError, match="has no state, and source"):
        start.take(config, found(config.source.topic), None, slots=8)


def test_a_missing_topic_is_refused_before_spark_starts(
    make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch, start: Start
) -> None:
    missing = (broker_limits.Missing("source.topic", "no.such", "here:1"),)
    monkeypatch.setattr(access, "await_brokers", lambda _: None)
    monkeypatch.setattr(
        broker_limits, "ask_brokers", lambda _: broker_limits.Brokers(Limits(2**20, 2**25), "c1", missing)
    )
    monkeypatch.setattr(module, "start_session", lambda *_, **__: pytest.fail("Spark was started"))
    with pytest.raises(RefusedError, match=r"^source\.topic: there is no topic no\.such at here:1$"):
        module.run(Budget(make_config()), NEW)


class ReachedError(Exception):
    """The step that a start was followed to."""


@pytest.mark.usefixtures("handlers", "start")
def test_a_session_that_takes_the_signals_does_not_keep_them(
    make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def session(*_: Any, **__: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def reached(*_: Any, **__: Any) -> None:
        assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == [stop_early] * 2
        raise ReachedError

    monkeypatch.setattr(access, "await_brokers", lambda _: None)
    monkeypatch.setattr(broker_limits, "ask_brokers", lambda _: broker_limits.Brokers(Limits(2**20, 2**25), "c1"))
    monkeypatch.setattr(module, "start_session", session)
    monkeypatch.setattr(module, "reads_with_spark", lambda *_: True)
    monkeypatch.setattr(module, "_check_spark", reached)
    with pytest.raises(ReachedError):
        module._begin(Budget(make_config()), NEW, lambda: pytest.fail("nothing runs yet"), allow_unsafe=False)


@pytest.mark.parametrize(("policy", "known", "asked"), [("none", LEDGER, 1), ("none", None, 0), ("defer", LEDGER, 0)])
def test_a_start_without_deferral_looks_into_the_ledger_of_its_checkpoint(
    make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch, policy: str, known: LedgerMark | None, asked: int
) -> None:
    looked: list[str] = []

    def look(topic: LedgerTopic, _wish: LedgerWish | None) -> None:
        looked.append(topic.topic)

    monkeypatch.setattr(ledger_log, "require_nothing_deferred", look)
    writer = SimpleNamespace(start=lambda _: LedgerMark("ledger", "id-1", 2))
    config = make_config(deferral={"policy": policy, "topic": "renamed"})
    mark = module._take_ledger(writer, config, known, new=False, wish=None)  # type: ignore[arg-type]
    assert looked == ["ledger"] * asked
    assert mark == (None if asked else LedgerMark("ledger", "id-1", 2))


@pytest.mark.parametrize(
    ("mediawiki", "warned"),
    [
        ({"endpoint": "http://mw-api-int:4680"}, ["http://mw-api-int:4680"]),
        ({"endpoint": "http://mw-api-int:4680", "contact": "ops@example.org"}, []),
        ({"endpoint": "http://127.0.0.1:8090"}, []),
    ],
)
def test_a_job_that_asks_wikis_of_others_without_a_contact_says_so(
    make_config: Callable[..., PipelineConfig], mediawiki: dict[str, str], warned: list[str]
) -> None:
    warnings = list(start_warnings(make_config(mediawiki=mediawiki)))
    assert [warning.endpoint for warning in warnings if isinstance(warning, ContactMissing)] == warned
    assert all("User-Agent policy" in warning.hint for warning in warnings)


@pytest.mark.parametrize(
    ("servers", "repeated"),
    [
        ("kafka-1:9092,kafka-2:9092", ()),
        ("kafka-1:9092,kafka-1:9093", ()),
        ("kafka-1:9092,kafka-1:9092", ("kafka-1:9092",)),
        ("kafka-1:9092, Kafka-1:9092", ("kafka-1:9092",)),
        ("PLAINTEXT://kafka-1:9092,kafka-1:9092", ("kafka-1:9092",)),
        ("b:1,a:1,b:1,A:1,a:1,c:1", ("a:1", "b:1")),
        ("[::1]:9092,[::1]:9092", ("[::1]:9092",)),
    ],
)
@pytest.mark.parametrize("section", ["source", "sink"])
def test_a_broker_that_is_listed_twice_is_warned_of(
    make_config: Callable[..., PipelineConfig], section: str, servers: str, repeated: tuple[str, ...]
) -> None:
    warnings = list(start_warnings(make_config(**{section: {"bootstrap_servers": servers}})))
    setting = f"{section}.bootstrap_servers"
    assert [(warning.setting, warning.brokers) for warning in warnings if isinstance(warning, BrokersRepeated)] == (
        [(setting, repeated)] if repeated else []
    )
    assert all(warning.hint.startswith(f"{setting} has {', '.join(repeated)} more than once") for warning in warnings)
