"""What a stretch changes of a model is what its types say."""

from datetime import timedelta
from typing import Annotated

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from devkit.expectations import Expectation
from devkit.faults.timeline_item import TimelineItem
from devkit.headroom.stretched_model import stretched
from devkit.traffic.model import TrafficSpec
from located_config.duration import Duration
from located_config.rate import PER_SECOND, Rate
from located_config.share import Share
from located_config.size import Size
from mockapi.faults.registry import FAULTS
from mockapi.rules.model import Do, Rule
from pipeline.config.pipeline_config import PipelineConfig, Source
from tests.unit.devkit.headroom.durations import durations

SECONDS = st.integers(1, 10_000).map(lambda tenths: timedelta(seconds=tenths / 10))


class Inner(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    waits: tuple[Duration, ...] = ()
    by_name: dict[str, Duration] = {}
    backoff: Duration = timedelta(milliseconds=200)


class Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    for_: Duration = Field(alias="for")
    rate: Rate
    link: Annotated[Size, PER_SECOND] | None = None
    rates: dict[str, Rate] = {}
    size: Size = 1024
    count: int = 7
    share: Share = 0.25
    factor: float = 2.5
    name: str = "10s"
    allowance: Duration | None = None
    inner: Inner = Inner()
    several: tuple[Inner, ...] = ()


@given(SECONDS, st.lists(SECONDS, max_size=3), st.floats(0.1, 1000), st.integers(2, 8))
def test_durations_and_rates_and_nothing_else(length: timedelta, waits: list[timedelta], rate: float, by: int) -> None:
    inner = Inner(waits=tuple(waits), by_name={"a": length})
    model = Model(for_=length, rate=f"{rate}/s", link=8_000, rates={"a": "20/s"}, inner=inner, several=(inner, Inner()))
    copy = stretched(model, by)
    slower = Inner(
        waits=tuple(wait * by for wait in waits), by_name={"a": length * by}, backoff=timedelta(milliseconds=200 * by)
    )
    expected = {"for_": length * by, "rate": model.rate / by, "link": round(8_000 / by), "rates": {"a": 20 / by}}
    expected |= {"inner": slower, "several": (slower, Inner(backoff=timedelta(milliseconds=200 * by)))}
    for name in Model.model_fields:
        wanted = expected.get(name, getattr(model, name))
        assert getattr(copy, name) == (pytest.approx(wanted) if name in ("rate", "rates") else wanted), name


def test_by_1_it_is_the_same() -> None:
    model = Model(for_="10s", rate="20/s")
    assert stretched(model, 1) is model


def test_a_default_that_nobody_wrote_is_stretched_and_written() -> None:
    slower = stretched(Model(for_="10s", rate="20/s"), 3)
    assert slower.inner.backoff == timedelta(milliseconds=600)
    assert "inner" in slower.model_fields_set
    assert "several" not in slower.model_fields_set


def test_what_is_beyond_its_bounds_is_said() -> None:
    class Bounded(BaseModel):
        wait: Annotated[Duration, Field(le=timedelta(seconds=20))]

    assert stretched(Bounded(wait="10s"), 2).wait == timedelta(seconds=20)
    with pytest.raises(ValidationError, match="wait"):
        stretched(Bounded(wait="10s"), 3)


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_of_the_mock_can_be_stretched(name: str) -> None:
    do = Do.model_validate({name: FAULTS[name].example})
    slower = stretched(do, 3)
    assert list(durations(slower)) == [duration * 3 for duration in durations(do)]
    assert slower.model_fields_set == do.model_fields_set


def test_rates_of_the_mock_are_lower() -> None:
    rule = Rule.model_validate({"name": "a", "do": {"rate_limit": {"rate": "30/s", "burst": 4}, "bandwidth": "64KiB"}})
    slower = stretched(rule, 2)
    assert slower.do.rate_limit is not None
    assert (slower.do.rate_limit.rate, slower.do.rate_limit.burst) == (15, 4)
    assert getattr(slower.do, "bandwidth") == 32 * 1024  # noqa: B009 - its keys are made from the registry


def test_a_resolved_configuration_is_stretched_with_its_defaults() -> None:
    parts = {"bootstrap_servers": "127.0.0.1:1"}
    config = PipelineConfig.model_validate(
        {"source": parts, "sink": parts, "mediawiki": {"endpoint": "http://127.0.0.1:1"}, "checkpoint": "s3a://a/b"}
    )
    slower = stretched(config, 4)
    assert list(durations(slower)) == [duration * 4 for duration in durations(config)]
    assert slower.fetch.concurrency == config.fetch.concurrency
    assert (slower.batch, slower.sink) == (config.batch, config.sink)


def test_a_key_that_another_one_stands_for_is_not_written_beside_it() -> None:
    places = {"bootstrap_servers": "b:1", "topics": ["a", "b"], "read": "aligned", "idle_after": "2s"}
    source = Source.model_validate(places)
    assert source.topic == "a"
    slower = stretched(source, 3)
    assert (slower.all_topics, slower.idle_after) == (("a", "b"), timedelta(seconds=6))


def test_traffic_has_as_many_events_over_a_longer_time() -> None:
    spec = TrafficSpec.model_validate({"seed": 7, "rate": "20/s", "for": "8s", "pages": {"Huge": {"edits": 2}}})
    slower = stretched(spec, 3)
    assert (slower.event_count, slower.for_) == (spec.event_count, timedelta(seconds=24))


@given(st.integers(1, 4000), st.sampled_from(["s", "m", "h"]), st.integers(1, 400), st.integers(2, 12))
@example(30, "s", 82, 3)
def test_rounding_does_not_change_how_many(rate: int, unit: str, twentieths: int, by: int) -> None:
    length = timedelta(seconds=twentieths / 20)
    spec = TrafficSpec.model_validate(
        {"seed": 7, "rate": f"{rate / 2}/{unit}", "for": length, "pages": {"Huge": {"edits": 1}}}
    )
    assert stretched(spec, by).event_count == spec.event_count


def test_an_expectation_stays_one_and_its_duration_is_longer() -> None:
    latency = Expectation.model_validate({"latency": {"percentile": 95, "at_most": "20s"}})
    assert stretched(latency, 2) == Expectation.model_validate({"latency": {"percentile": 95, "at_most": "40s"}})
    restarts = Expectation.model_validate({"restarts": {"at_least": 2}})
    assert stretched(restarts, 2) == restarts


@pytest.mark.parametrize(
    ("do", "slower"),
    [
        (
            {"client_quota": {"produce": "100KiB", "fetch": 600, "request_percentage": 20}},
            {"client_quota": {"produce": "50KiB", "fetch": 300, "request_percentage": 20}},
        ),
        (
            {"reassign": {"topic": "source", "to": [2], "throttle": "1MiB"}},
            {"reassign": {"topic": "source", "to": [2], "throttle": "512KiB"}},
        ),
        (
            {"reassign": {"topic": "source", "to": [2]}},
            {"reassign": {"topic": "source", "to": [2], "throttle": "512KiB"}},
        ),
        (
            {"topic_settings": {"topic": "output", "settings": {"retention.ms": 1000, "max.message.bytes": 1000}}},
            {"topic_settings": {"topic": "output", "settings": {"retention.ms": 2000, "max.message.bytes": 1000}}},
        ),
        (
            {"topic_settings": {"topic": "output", "settings": {"retention.ms": -1, "flush.ms": 2**63 - 1}}},
            {"topic_settings": {"topic": "output", "settings": {"retention.ms": -1, "flush.ms": 2**63 - 1}}},
        ),
    ],
)
def test_a_fault_at_the_broker_is_as_much_slower(do: dict[str, object], slower: dict[str, object]) -> None:
    item = {"name": "a", "do": do, "at": "8s"}
    assert stretched(TimelineItem.model_validate(item), 2) == TimelineItem.model_validate(
        item | {"do": slower, "at": "16s"}
    )


def test_a_fault_of_the_timeline_begins_later_and_lasts_longer() -> None:
    item = {"name": "a", "do": {"pause": {"part": "kafka"}}, "at": "8s", "for": "5s"}
    slower = item | {"at": "16s", "for": "10s"}
    assert stretched(TimelineItem.model_validate(item), 2) == TimelineItem.model_validate(slower)
