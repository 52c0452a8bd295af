"""The settings of rdf-decide, and what it refuses."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.unsafe import unsafe_settings
from tests.unit.pipeline.making import make_config


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
