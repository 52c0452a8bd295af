"""What brokers say of their limits, and what becomes of a job whose brokers say nothing."""

import uuid
from dataclasses import dataclass, field
from typing import Any

import pytest
from kafka.admin import ConfigFilterType, ConfigResource
from kafka.errors import ClusterAuthorizationFailedError, KafkaTimeoutError

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import RefusedError
from pipeline.kafka import broker_limits as read
from pipeline.kafka.broker_limits import LimitsWatch, Missing, ask_brokers, require_limits, require_topics
from tests.unit.described_configs import described_configs
from tests.unit.pipeline.making import make_config

SOURCE, SINK = "source:1", "sink:1"
OUTPUT, ERROR = "mediawiki.page_html_content_change.v1", "mw_page_html_content_change_enrich.error"
MIB = 1024 * 1024


@dataclass
class Admin:
    """One cluster: what its topics take, and each of its brokers."""

    topics: dict[str, int]
    brokers: dict[str, dict[str, int]] = field(default_factory=dict)
    failure: Exception | None = None
    failure_of_limits: Exception | None = None
    makes_topics: str | None = None
    # Those that the job may not ask about.
    hidden: tuple[str, ...] = ()
    asked: int = 0
    closed: int = 0

    def describe_cluster(self) -> dict[str, Any]:
        self.asked += 1
        if self.failure:
            raise self.failure
        brokers = [{"broker_id": int(number)} for number in self.brokers]
        return {"brokers": brokers, "cluster_id": f"cluster-{len(brokers)}"}

    def describe_configs(
        self, wanted: list[ConfigResource], config_filter: ConfigFilterType | str = "modified"
    ) -> dict[str, Any]:
        if self.failure_of_limits:
            raise self.failure_of_limits
        settings = {name: {"max.message.bytes": (str(limit), "DEFAULT_CONFIG")} for name, limit in self.topics.items()}
        for number, limits in self.brokers.items():
            settings[number] = {name: (str(value), "STATIC_BROKER_CONFIG") for name, value in limits.items()}
        if self.makes_topics is not None:
            settings["1"]["auto.create.topics.enable"] = (self.makes_topics, "DEFAULT_CONFIG")
        return described_configs(settings, wanted, config_filter)

    def describe_topics(self, wanted: list[str]) -> list[dict[str, Any]]:
        codes = dict.fromkeys(wanted, 3) | dict.fromkeys(self.topics, 0) | dict.fromkeys(self.hidden, 29)
        ids = {name: uuid.UUID(int=5) for name in self.topics}
        return [{"name": name, "error_code": codes[name], "topic_id": ids.get(name)} for name in wanted]

    def close(self) -> None:
        self.closed += 1


Clusters = dict[str, Admin]
Lines = list[dict[str, Any]]


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> Clusters:
    lowest = {"message.max.bytes": 7 * MIB, "socket.request.max.bytes": 50 * MIB}
    higher = {"message.max.bytes": 9 * MIB, "socket.request.max.bytes": 49 * MIB}
    made = {
        SOURCE: Admin({"mediawiki.page_change.v1": 2 * MIB}, {"1": {"message.max.bytes": 1}}),
        SINK: Admin({OUTPUT: 3 * MIB, ERROR: MIB}, {"1": lowest, "2": higher}),
    }

    def admin(*, bootstrap_servers: str, **_: Any) -> Admin:
        return made[bootstrap_servers]

    monkeypatch.setattr(read, "KafkaAdminClient", admin)
    return made


def ask_and_require(config: PipelineConfig) -> None:
    require_limits(ask_brokers(config).limits, config)


def config(size: int = 2 * MIB) -> PipelineConfig:
    return make_config(source={"bootstrap_servers": SOURCE}, sink={"bootstrap_servers": SINK, "max.request.size": size})


def test_each_limit_comes_from_where_it_counts(clusters: Clusters, lines: Lines) -> None:
    """The source's topic from the source's brokers, the rest from the sink's; of several brokers the lowest."""
    brokers = ask_brokers(config())
    assert brokers.source_cluster == "cluster-1"
    assert brokers.source_ids == {"mediawiki.page_change.v1": str(uuid.UUID(int=5))}
    assert brokers.limits == read.Limits(
        max_request_size=2 * MIB,
        buffer_memory=32 * MIB,
        source_topics={"mediawiki.page_change.v1": 2 * MIB},
        output_topic=3 * MIB,
        error_topic=MIB,
        ledger_topic=None,
        broker_message=7 * MIB,
        broker_request=49 * MIB,
    )
    assert [admin.closed for admin in clusters.values()] == [1, 1]
    assert lines == []


def test_a_disagreement_is_said_and_the_job_begins(clusters: Clusters, lines: Lines) -> None:
    ask_and_require(config())
    (line,) = lines
    assert (line["event"], line["max_request_size"], line["output_topic"]) == ("limits", 2 * MIB, 3 * MIB)
    ask_and_require(config(size=4 * MIB))
    line = lines[-1]
    assert (line["event"], line["of"]) == ("limits_disagree", "output topic")
    assert f"{4 * MIB}" in line["problem"]
    assert f"{3 * MIB}" in line["problem"]
    assert "or raise the topic's max.message.bytes" in line["hint"]


def test_a_limit_that_changes_while_the_job_runs_is_said_once(clusters: Clusters, lines: Lines) -> None:
    own = config()
    watch = LimitsWatch(own, ask_brokers(own).limits)
    watch.look()
    assert (watch.batch_bytes, lines) == (MIB, [])
    clusters[SINK].topics[OUTPUT] = MIB // 2
    watch.look()
    assert watch.batch_bytes == MIB // 2
    assert [line["event"] for line in lines] == ["limits", "limits_disagree"]
    assert (lines[0]["output_topic"], lines[0]["batch_size"], lines[0]["broker_request"]) == (
        MIB // 2,
        MIB // 2,
        49 * MIB,
    )
    watch.look()
    assert len(lines) == 2


def test_a_limit_with_which_no_job_begins_ends_none_that_runs(clusters: Clusters, lines: Lines) -> None:
    own = config()
    watch = LimitsWatch(own, ask_brokers(own).limits)
    clusters[SINK].topics[ERROR] = 500
    watch.look()
    assert ("limits_disagree", "error topic") in [(line["event"], line.get("of")) for line in lines]


@pytest.mark.parametrize("is_gone", [True, False])
def test_limits_that_are_told_no_more_stay(clusters: Clusters, lines: Lines, *, is_gone: bool) -> None:
    own = config()
    known = ask_brokers(own).limits
    if is_gone:
        del clusters[SINK].topics[OUTPUT]
    else:
        clusters[SINK].topics[OUTPUT] = 1
        clusters[SINK].failure_of_limits = KafkaTimeoutError("no answer")
    watch = LimitsWatch(own, known)
    watch.look()
    assert (watch.limits, lines) == (known, [])


def test_what_can_never_work_is_refused(clusters: Clusters, lines: Lines) -> None:
    clusters[SINK].topics[ERROR] = 500
    with pytest.raises(RefusedError, match=f"error topic {ERROR} takes 500 bytes") as refused:
        ask_and_require(config())
    assert "raise the topic's max.message.bytes" in str(refused.value.hint)


@pytest.mark.parametrize(
    "failure", [KafkaTimeoutError("no answer"), ClusterAuthorizationFailedError(), OSError("gone")]
)
def test_brokers_that_say_nothing_do_not_keep_a_job_from_beginning(
    clusters: Clusters, lines: Lines, failure: Exception
) -> None:
    clusters[SINK].failure = failure
    ask_and_require(config())
    unknown, effective = lines
    assert (unknown["event"], unknown["bootstrap"]) == ("limits_unknown", SINK)
    assert type(failure).__name__ in unknown["reason"]
    assert (effective["source_topic"], effective["output_topic"]) == (2 * MIB, None)
    assert clusters[SINK].closed == 1


@pytest.mark.parametrize(("failing", "known"), [("failure", None), ("failure_of_limits", "cluster-1")])
def test_the_sources_cluster_says_who_it_is_also_to_a_job_that_may_not_ask_for_limits(
    clusters: Clusters, lines: Lines, failing: str, known: str | None
) -> None:
    setattr(clusters[SOURCE], failing, ClusterAuthorizationFailedError())
    brokers = ask_brokers(config())
    assert (brokers.source_cluster, brokers.limits.source_topics) == (known, {})
    assert [(line["event"], line["bootstrap"]) for line in lines] == [("limits_unknown", SOURCE)]


def test_one_cluster_is_asked_once(clusters: Clusters) -> None:
    clusters[SINK].topics["mediawiki.page_change.v1"] = 2 * MIB
    brokers = ask_brokers(make_config(source={"bootstrap_servers": SINK}, sink={"bootstrap_servers": SINK}))
    assert (brokers.source_cluster, brokers.limits.source_topics) == (
        "cluster-2",
        {"mediawiki.page_change.v1": 2 * MIB},
    )
    assert [clusters[SOURCE].asked, clusters[SINK].asked] == [0, 1]


@pytest.mark.parametrize(
    ("topics", "setting"),
    [
        ({"source": {"topic": "no.such"}}, "source.topic"),
        ({"sink": {"topic": "no.such"}}, "sink.topic"),
        ({"sink": {"error_topic": "no.such"}}, "sink.error_topic"),
    ],
)
def test_a_missing_topic_is_refused_by_name(
    clusters: Clusters, topics: dict[str, dict[str, str]], setting: str
) -> None:
    """But not the ledger's, which the job makes."""
    del clusters[SINK].brokers["2"]
    for admin in clusters.values():
        admin.makes_topics = "false"
    at = {"source": {"bootstrap_servers": SOURCE}, "sink": {"bootstrap_servers": SINK}}
    bootstrap = SOURCE if "source" in topics else SINK
    found = ask_brokers(make_config(**{name: part | topics.get(name, {}) for name, part in at.items()})).missing
    assert found == (Missing(setting, "no.such", bootstrap),)
    with pytest.raises(RefusedError, match=f"^{setting}: there is no topic no.such at {bootstrap}$") as refused:
        require_topics(found)
    assert "make it" in str(refused.value.hint)
    require_topics(())


def test_a_job_with_a_topic_of_fetch_failures_needs_it(clusters: Clusters) -> None:
    own = make_config(
        job="rdf-resolve",
        source={"bootstrap_servers": SINK, "topic": OUTPUT},
        sink={"bootstrap_servers": SINK, "topic": ERROR, "error_topic": "errors", "fetch_failure_topic": "failures"},
    )
    del clusters[SINK].brokers["2"]
    clusters[SINK].makes_topics = "false"
    clusters[SINK].topics["errors"] = MIB
    assert ask_brokers(own).missing == (Missing("sink.fetch_failure_topic", "failures", SINK),)
    clusters[SINK].topics["failures"] = 3 * MIB
    brokers = ask_brokers(own)
    assert (brokers.missing, brokers.limits.fetch_failure_topic) == ((), 3 * MIB)
    clusters[SINK].topics["failures"] = 2 * MIB
    watch = LimitsWatch(own, brokers.limits)
    watch.look()
    assert watch.limits.fetch_failure_topic == 2 * MIB


@pytest.mark.parametrize("says", ["true", None], ids=["makes topics", "does not say"])
def test_a_topic_that_a_broker_may_make_is_not_missing(clusters: Clusters, says: str | None) -> None:
    """One of two brokers that may make it is enough."""
    clusters[SOURCE].makes_topics = says
    clusters[SINK].makes_topics = "false"
    clusters[SOURCE].topics.clear()
    clusters[SINK].topics.clear()
    assert ask_brokers(config()).missing == ()


def test_a_topic_that_the_job_may_not_ask_about_is_not_missing(clusters: Clusters) -> None:
    clusters[SOURCE].makes_topics = "false"
    clusters[SOURCE].topics.clear()
    clusters[SOURCE].hidden = ("mediawiki.page_change.v1",)
    assert ask_brokers(config()).missing == ()
