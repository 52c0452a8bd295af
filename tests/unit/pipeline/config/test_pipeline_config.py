import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pipeline.config.pipeline_config import Deferral, PipelineConfig, Sink
from pipeline.config.section import is_loopback, require_contact, require_servers, require_something, require_url
from tests.unit.pipeline.making import make_config

DURATIONS = st.timedeltas(min_value=timedelta(microseconds=1), max_value=timedelta(days=365))
SIZES = st.integers(0, 2**40)
Require = Callable[[str], str]
SERVERS = ("localhost:9092", "a:1,b.example:65535", "a:1, b:2", "[::1]:9092", "PLAINTEXT://a:1", "127.0.0.1:1")
NO_SERVERS = ("", " ", "a", "a:", ":1", "a:abc", "a:0", "a:65536", "a:1,", "a:1,,b:2", "a:1 b:2")
URLS = ("http://a", "https://a.example:8443", "http://[::1]:80")
NO_URLS = ("http://a:99999", "http://a:b", "http://a:0", "http://:80", "http://[x")
CONTACTS = ("ops@example.org", "https://wikitech.wikimedia.org/wiki/A_b", "http://a:80/b?c=d")
NO_CONTACTS = ("", "the team", "ops@", "ops@host", "mailto:a", "https://", "a@b.c; d", "é@b.c")
NO_PART_OF_A_HEADER = ("a@b.c)\r\nX: y", "https://a/b\n")


@given(
    deadline=DURATIONS,
    timeout=DURATIONS,
    trigger=DURATIONS,
    limit=SIZES,
    buffer=SIZES,
    request_size=st.integers(1, 2**31 - 1),
    measure=st.sampled_from(["decoded", "content_length"]),
)
def test_a_worker_reads_the_configuration_that_the_driver_wrote(
    deadline: timedelta,
    timeout: timedelta,
    trigger: timedelta,
    limit: int,
    buffer: int,
    request_size: int,
    measure: str,
) -> None:
    config = make_config(
        fetch={"deadline": deadline, "request_timeout": timeout},
        batch={"trigger": trigger},
        content_limit={"max_bytes": limit, "measure": measure},
        sink={"max.request.size": request_size},
        result_buffer=buffer,
    )
    again = PipelineConfig.model_validate_json(config.model_dump_json(by_alias=True))
    assert again.model_dump() == config.model_dump()


def test_sizes_and_durations_are_as_people_write_them() -> None:
    config = make_config(
        sink={"max.request.size": "20MiB"}, fetch={"backoff": "40ms"}, content_limit={"max_bytes": 15_728_640}
    )
    assert config.sink.max_request_size == 20 * 1024 * 1024
    assert config.fetch.backoff == timedelta(milliseconds=40)
    assert config.content_limit.max_bytes == 15 * 1024 * 1024


def test_without_a_word_the_safe_policies_hold() -> None:
    config = make_config()
    assert config.content_limit.measure == "decoded"
    assert config.record_limit.policy == "serialized"
    assert 504 not in config.fetch.retried_statuses


def test_each_job_has_places_of_its_own() -> None:
    """Else the second would write into the topics of the first, and fold its ledger."""
    html, content = make_config(job="html-enrichment"), make_config(job="content-enrichment")
    assert make_config() == html
    assert content.sink.topic == "mediawiki.page_content_change.v1"
    assert content.claim_check.prefix == "content-enrichment"
    both = [(it.sink.topic, it.sink.error_topic, it.deferral.topic, it.claim_check.prefix) for it in (html, content)]
    assert not set(both[0]) & set(both[1])


def test_what_is_said_holds_for_every_job() -> None:
    document = {
        "job": "content-enrichment",
        "source": {"bootstrap_servers": "b:1"},
        "sink": {"bootstrap_servers": "b:1", "topic": "mine"},
        "mediawiki": {"endpoint": "http://h"},
        "checkpoint": "c",
        "deferral": {"topic": "put.aside", "max_entries": 7},
    }
    config = PipelineConfig.model_validate(document)
    assert (config.sink.topic, config.deferral.topic, config.deferral.max_entries) == ("mine", "put.aside", 7)
    assert config.sink.error_topic == "mw_page_content_change_enrich.error"
    assert document["sink"] == {"bootstrap_servers": "b:1", "topic": "mine"}
    sections = {name: getattr(config, name) for name in ("source", "sink", "mediawiki", "checkpoint", "deferral")}
    assert PipelineConfig(job="content-enrichment", **sections) == config
    fresh = {"sink": Sink(bootstrap_servers="b:1"), "deferral": Deferral(max_entries=7)}
    made = PipelineConfig(job="content-enrichment", **sections | fresh)
    assert made.sink.topic == "mediawiki.page_content_change.v1"
    assert (made.deferral.topic, made.deferral.max_entries) == ("mw_page_content_change_enrich.deferred", 7)


@pytest.mark.parametrize(
    ("sections", "place"),
    [
        ({"job": "content-enrichment", "sink": []}, ("sink",)),
        ({"job": ["content-enrichment"]}, ("job",)),
        ({"content": {"maxlag": "1500ms"}}, ("content", "maxlag")),
        ({"fetch": {"deadline": "0s"}}, ("fetch", "deadline")),
        ({"fetch": {"request_timeout": "0s"}}, ("fetch", "request_timeout")),
        ({"fetch": {"total_requests": 0}}, ("fetch", "total_requests")),
        ({"fetch": {"concurrency": 0}}, ("fetch", "concurrency")),
        ({"sink": {"max.request.size": 0}}, ("sink", "max.request.size")),
        ({"sink": {"topic": "no spaces"}}, ("sink", "topic")),
        ({"source": {"topic": "t" * 250}}, ("source", "topic")),
        ({"content_limit": {"max_bytes": -1}}, ("content_limit", "max_bytes")),
        ({"claim_check": {"max_bytes": -1}}, ("claim_check", "max_bytes")),
        ({"result_buffer": -1}, ("result_buffer",)),
        ({"result_buffer": "64 megs"}, ("result_buffer",)),
        ({"content_limit": {"measure": "compressed"}}, ("content_limit", "measure")),
        ({"batch": {"max_offsets": 0}}, ("batch", "max_offsets")),
        ({"mediawiki": {"endpoint": "http://h/path"}}, ("mediawiki", "endpoint")),
        ({"mediawiki": {"endpoint": "ftp://h"}}, ("mediawiki", "endpoint")),
        ({"mediawiki": {"wikis": {}}}, ("mediawiki", "wikis")),
        ({"mediawiki": {"wikis": {"enwiki": "host\r\nX: y"}}}, ("mediawiki", "wikis", "enwiki")),
        ({"mediawiki": {"wikis": {"enwiki": ""}}}, ("mediawiki", "wikis", "enwiki")),
        ({"claim_check": {"bucket": "Upper_Case"}}, ("claim_check", "bucket")),
        ({"claim_check": {"prefix": "a b"}}, ("claim_check", "prefix")),
        ({"job": "other"}, ("job",)),
        ({"sinks": {}}, ("sinks",)),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_place(sections: dict[str, Any], place: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError) as caught:
        make_config(**sections)
    assert [error["loc"] for error in caught.value.errors()] == [place]


def test_a_configuration_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        make_config().fetch.concurrency = 7  # type: ignore[misc]


@pytest.mark.parametrize(("allowance", "seconds"), [("5s", 25), ("60s", 80)])
def test_the_time_to_stop_follows_the_allowance(allowance: str, seconds: int) -> None:
    made = make_config(deferral={"inline_allowance": allowance})
    assert made.effective_stop_timeout.total_seconds() == seconds
    as_shown = made.model_dump(mode="json", by_alias=True)
    assert PipelineConfig.model_validate(as_shown).stop_timeout == made.effective_stop_timeout


def test_a_stop_has_time_for_slow_records_and_the_sink() -> None:
    deferral = {"inline_allowance": "20s"}
    assert make_config(deferral=deferral, stop_timeout="30s").effective_stop_timeout.total_seconds() == 30
    # Without deferral nothing says how long a batch takes.
    assert make_config(deferral={"policy": "none"}, stop_timeout="1s").effective_stop_timeout.total_seconds() == 1


PAGE_CHANGE = "mediawiki.page_change.v1"
ALLOWANCE_20S, BATCH_12S = {"inline_allowance": "20s"}, {"deferral": {"inline_allowance": "4s"}, "stall_timeout": "12s"}
BUDGET = r"batch_budget \d+ s is not between .* leave it out, or write 8s"
ALIGNED_ONLY: dict[str, str] = {"slice": "5s", "idle_after": "5s", "late": "lapse", "lateness": "5s"}


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"sink": {"topic": PAGE_CHANGE}}, "source.topic and sink.topic are both"),
        ({"source": {"topics": ["a", "b"]}, "sink": {"topic": "b"}}, "source.topics and sink.topic are both 'b'"),
        ({"source": {"topics": ["a", "b", "a"]}}, "source.topics names a twice"),
        ({"source": {"topics": ["a"], "topic": "b"}}, "source.topic and source.topics are both given"),
        ({"sink": {"topic": "t", "error_topic": "t"}}, "sink.topic and sink.error_topic are both 't'"),
        ({"deferral": {"topic": PAGE_CHANGE}}, "source.topic and deferral.topic are both"),
        ({"sink": {"error_topic": "a", "lapsed_topic": "a"}}, "sink.error_topic and sink.lapsed_topic are both 'a'"),
        (
            {"job": "rdf-resolve", "sink": {"error_topic": "a", "fetch_failure_topic": "a"}},
            "sink.error_topic and sink.fetch_failure_topic are both 'a'",
        ),
        ({"sink": {"fetch_failure_topic": "failures"}}, "sink.fetch_failure_topic: html-enrichment makes no fetch_fai"),
        ({"deferral": ALLOWANCE_20S, "stop_timeout": "29s"}, "stop_timeout 29 s is too short: .* write at least 30s"),
        (BATCH_12S | {"batch_budget": "4s"}, BUDGET),
        (BATCH_12S | {"batch_budget": "12s"}, BUDGET),
        (
            {"breaker": {"open_for": "20s", "open_for_cap": "10s"}},
            "breaker.open_for_cap 10 s is below breaker.open_for 20 s: raise the cap",
        ),
        ({"source": {"deduplicate": {}}}, "within"),
        ({"source": {"deduplicate": {"within": "0s"}}}, "within"),
        ({"source": {"deduplicate": {"within": "always"}}}, "within"),
        ({"source": {"deduplicate": {"within": "1m", "by": "key"}}}, "'id' or 'event'"),
        ({"state": {"partitions": 0}}, "partitions"),
        ({"state": {"max_bytes": "1MiB"}}, "max_bytes"),
        *(
            ({"source": {key: value}}, rf"source\.{key} is for source\.read: aligned, and read is propor")
            for key, value in ALIGNED_ONLY.items()
        ),
        *(
            ({"source": {key: value, "read": "proportional"}}, "remove it, or write read: aligned")
            for key, value in ALIGNED_ONLY.items()
        ),
        ({"source": {"read": "aligned", "slice": "0s"}}, "above 0"),
    ],
)
def test_what_contradicts_itself_is_refused(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        make_config(**sections)


def test_the_same_name_on_another_cluster_is_another_topic() -> None:
    made = make_config(source={"bootstrap_servers": "far:9092"}, sink={"topic": PAGE_CHANGE})
    assert made.source.topic == made.sink.topic


def test_a_batchs_budget_lies_between_allowance_and_stall() -> None:
    made = make_config(deferral={"inline_allowance": "4s"}, stall_timeout="12s")
    assert made.effective_batch_budget.total_seconds() == 8
    as_shown = made.model_dump(mode="json", by_alias=True)
    assert PipelineConfig.model_validate(as_shown).batch_budget == made.effective_batch_budget

    # Without deferral there is nowhere to put what it cuts off.
    assert make_config(deferral={"policy": "none"}, batch_budget="1h").effective_batch_budget.total_seconds() == 3600


def test_what_follows_another_setting_follows_it_in_a_copy_too() -> None:
    made = make_config(deferral={"inline_allowance": "4s"}, stall_timeout="12s")
    later = made.model_copy(update={"stall_timeout": timedelta(seconds=20)})
    assert later.effective_batch_budget.total_seconds() == 12


def test_a_breaker_stays_open_no_longer_than_its_cap() -> None:
    assert make_config(breaker={"open_for": "2m", "open_for_cap": "2m"}).breaker.policy == "wait"


def test_one_source_topic_or_several_are_shown_as_they_were_given() -> None:
    one, several = make_config(source={"topic": "a"}), make_config(source={"topics": ["a", "b"]})
    assert several.source.topic == "a"
    assert (one.source.all_topics, several.source.all_topics) == (("a",), ("a", "b"))
    for made, key, value in ((one, "topic", "a"), (several, "topics", ["a", "b"])):
        shown = made.model_dump(mode="json", by_alias=True)
        rest = {"bootstrap_servers": "127.0.0.1:1", "read": "proportional", "deduplicate": None}
        rest |= {"pass_headers": [], "pass_headers_bytes": 4096}
        assert shown["source"] == {**rest, key: value}
        assert PipelineConfig.model_validate(shown).source.all_topics == made.source.all_topics
        assert PipelineConfig.model_validate_json(made.model_dump_json(by_alias=True)).source == made.source


def test_which_repeats_are_dropped_and_where_the_state_lies() -> None:
    made = make_config(source={"deduplicate": {"within": "10m"}}, state={"max_bytes": "32MiB"})
    assert PipelineConfig.model_validate_json(made.model_dump_json(by_alias=True)).source == made.source
    assert made.source.deduplicate is not None
    assert (made.source.deduplicate.by, made.state.provider, made.state.partitions) == ("id", "rocksdb", None)


def test_an_aligned_source_is_shown_with_its_own_settings() -> None:
    made = make_config(source={"read": "aligned", "slice": "5s"})
    shown = made.model_dump(mode="json", by_alias=True)["source"]
    assert (shown["slice"], shown["idle_after"]) == ("5s", "10s")
    assert PipelineConfig.model_validate_json(made.model_dump_json(by_alias=True)).source == made.source


def test_lapsed_events_go_beside_error_events() -> None:
    made = make_config(sink={"error_topic": "a.error"})
    assert made.model_dump(mode="json")["sink"]["lapsed_topic"] == made.sink.effective_lapsed_topic == "a.lapsed"
    assert make_config(sink={"error_topic": "a", "lapsed_topic": "b"}).sink.effective_lapsed_topic == "b"


def test_only_a_job_that_makes_fetch_failures_has_a_topic_of_them() -> None:
    made, none = make_config(job="rdf-resolve"), make_config(job="rdf-resolve", sink={"fetch_failure_topic": None})
    errors, failures = "rdf-streaming-updater.error", "rdf-streaming-updater.fetch-failure"
    assert made.sink.error_topics == (errors, failures)
    assert ("sink.fetch_failure_topic", failures) in made.written_topics
    assert none.sink.error_topics == (errors,)
    assert make_config().sink.error_topics == ("mw_page_html_content_change_enrich.error",)


@pytest.mark.parametrize(
    ("require", "value"),
    [
        *((require_servers, value) for value in SERVERS),
        *((require_url, value) for value in URLS),
        *((require_contact, value) for value in CONTACTS),
        (require_something, "a b"),
    ],
)
def test_what_can_be_reached_stays_as_it_is(require: Require, value: str) -> None:
    assert require(value) == value


@pytest.mark.parametrize(
    ("require", "value", "why"),
    [
        *((require_servers, value, "is no broker's address, write host:9092") for value in NO_SERVERS),
        *((require_url, value, "") for value in NO_URLS),
        *((require_contact, value, "mail address") for value in (*NO_CONTACTS, *NO_PART_OF_A_HEADER)),
        *((require_something, value, "empty") for value in ("", " \t")),
    ],
)
def test_what_cannot_be_reached_is_refused(require: Require, value: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why) or "."):
        require(value)


@pytest.mark.parametrize(
    ("endpoint", "is_here"),
    [
        ("http://127.0.0.1:80", True),
        ("http://[::1]:80", True),
        ("http://localhost:1", True),
        ("https://en.wikipedia.org", False),
        ("http://mw-api-int:4680", False),
        ("http://127.0.0.1.example.org", False),
    ],
)
def test_what_is_on_this_machine(endpoint: str, is_here: bool) -> None:
    assert is_loopback(endpoint) == is_here
