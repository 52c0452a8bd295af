"""The settings of rdf-decide, unsafe settings, and what both refuse."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from pipeline.config.apply_config import ApplyConfig
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.unsafe import unsafe_apply_settings, unsafe_settings
from tests.unit.pipeline.making import make_config

BY_EVENT = {"within": "10m", "by": "event"}


def deciding(**sections: Any) -> PipelineConfig:
    return make_config(job="rdf-decide", **sections)


def test_defaults_are_those_that_the_job_needs() -> None:
    config = deciding()
    assert (config.updater.reorder, config.updater.continue_at_once) == (timedelta(seconds=60), True)
    assert config.updater.namespaces == (0, 120, 146)
    assert (config.source.read, config.source.late, config.deferral.policy) == ("aligned", "process", "none")
    assert len(config.source.all_topics) == 10
    assert unsafe_settings(config) == []
    again = PipelineConfig.model_validate_json(config.model_dump_json(by_alias=True))
    assert again.model_dump(by_alias=True) == config.model_dump(by_alias=True)


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"source": {"read": "proportional"}}, "source.read: not for rdf-decide, as its watermark would drop events"),
        ({"source": {"late": "lapse"}}, "source.late: not for rdf-decide"),
        ({"source": {"deduplicate": {"within": "1m"}}}, "source.deduplicate: not for rdf-decide"),
        ({"source": {"pass_headers": ["traceparent"]}}, "source.pass_headers: not for rdf-decide"),
        ({"deferral": {"policy": "defer"}}, "deferral.policy: not for rdf-decide, as it fetches nothing; write none"),
        ({"state": {"provider": "heap"}}, "state.provider: not for rdf-decide, as its timers need it; write rocksdb"),
        ({"sink": {"inconsistency_topic": None}}, "rdf-decide makes state_inconsistency events; name one"),
        ({"sink": {"inconsistency_topic": "rdf-streaming-updater.operation"}}, "are both"),
        ({"updater": {"namespaces": []}}, "updater.namespaces"),
        ({"updater": {"namespaces": [-1]}}, "updater.namespaces"),
        ({"updater": {"reorder": "-1s"}}, "updater.reorder"),
    ],
)
def test_what_it_cannot_be_is_refused_with_the_key(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        deciding(**sections)
    places = [".".join(map(str, error["loc"])) for error in caught.value.errors()]
    assert message in f"{places} {caught.value}"


def test_no_other_job_has_its_topics() -> None:
    with pytest.raises(ValidationError, match=r"inconsistency_topic: html-enrichment makes no .* remove it"):
        make_config(sink={"inconsistency_topic": "a"})
    config = deciding()
    assert config.lapses
    assert ("sink.inconsistency_topic", "rdf-streaming-updater.state-inconsistency") in config.written_topics
    assert ("sink.lapsed_topic", "rdf-streaming-updater.lapsed-action") in config.written_topics
    assert not make_config().lapses
    assert make_config(source={"read": "aligned", "late": "lapse"}).lapses


@pytest.mark.parametrize(
    ("job", "updater", "expected"),
    [
        ("rdf-decide", {"reorder": "0s"}, ["updater.reorder: 0s"]),
        ("rdf-decide", {"reorder": "1ms", "continue_at_once": False}, []),
        ("html-enrichment", {"reorder": "0s"}, []),
    ],
)
def test_a_job_that_does_not_reorder_is_unsafe(job: str, updater: dict[str, Any], expected: list[str]) -> None:
    assert unsafe_settings(make_config(job=job, updater=updater)) == expected


@pytest.mark.parametrize(
    ("sections", "found"),
    [
        ({}, []),
        ({"content_limit": {"measure": "decoded"}, "record_limit": {"policy": "serialized"}}, []),
        ({"content_limit": {"measure": "content_length"}}, ["content_limit.measure: content_length"]),
        ({"record_limit": {"policy": "none"}}, ["record_limit.policy: none"]),
        ({"errors": {"payload": "full_event"}}, ["errors.payload: full_event"]),
        ({"fetch": {"body_limit": "content_length"}}, ["fetch.body_limit: content_length"]),
        ({"fetch": {"max_in_flight_bytes": "none"}}, ["fetch.max_in_flight_bytes: none"]),
        ({"fetch": {"max_in_flight_bytes": "1000GiB"}}, []),
        ({"fetch": {"retried_statuses": [503, 504]}}, ["fetch.retried_statuses: 504"]),
        ({"fetch": {"retry_unknown": {"total_requests": 4, "every": "1s"}}}, ["fetch.retry_unknown: any"]),
        ({"batch": {"page_order": "together"}}, []),
        ({"batch": {"page_order": "one_at_a_time"}}, ["batch.page_order: one_at_a_time"]),
        ({"sink": {"delivery_timeout": "2min"}}, ["sink.delivery_timeout: any"]),
        ({"commit": {"slow_after": "1s", "timeout": "1min"}}, []),
        ({"commit": {"policy": "wait"}}, ["commit.policy: wait"]),
        ({"source": {"deduplicate": {"within": "10m"}}}, ["source.read: proportional"]),
        ({"source": {"deduplicate": {"within": "10m"}, "read": "aligned"}}, []),
        ({"source": {"deduplicate": BY_EVENT, "read": "aligned"}}, ["source.deduplicate.by: event"]),
        # Without a watermark nothing is late.
        ({"source": {"deduplicate": {"within": "ever"}}}, ["source.deduplicate.within: ever"]),
        ({"missing_checkpoint": "earliest"}, ["missing_checkpoint: earliest"]),
        ({"metrics": {"on_collision": "drop"}}, ["metrics.on_collision: drop"]),
        (
            {"content_limit": {"measure": "content_length"}, "record_limit": {"policy": "none"}},
            ["content_limit.measure: content_length", "record_limit.policy: none"],
        ),
    ],
)
def test_incident_policies_are_named(sections: dict[str, Any], found: list[str]) -> None:
    assert unsafe_settings(make_config(**sections)) == found


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({}, []),
        ({"batch_triples": 2, "count": "probe", "atomic": False, "timeout": "1s"}, []),
        ({"batch_triples": 1}, ["apply.batch_triples: 1"]),
        ({"offset": "kafka", "deletes": "ignore"}, ["apply.offset: kafka", "apply.deletes: ignore"]),
        ({"unlinked": "delete", "sitelinks": "as_sent"}, ["apply.unlinked: delete", "apply.sitelinks: as_sent"]),
    ],
)
def test_policies_of_apply_are_named(settings: dict[str, Any], found: list[str]) -> None:
    config = ApplyConfig.model_validate(
        {"source": {"bootstrap_servers": "a:1", "topic": "t"}, "apply": {"endpoint": "http://a", **settings}}
    )
    assert unsafe_apply_settings(config) == found
