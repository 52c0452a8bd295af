"""A name stands for one metric, and whoever renames one hears of a clash at the start."""

import pytest

from pipeline.config.pipeline_config import Metrics
from pipeline.errors import RefusedError
from pipeline.metrics.catalogue import DEFERRED, EVENTS, LAG_EVENTS, METRICS, RECORD_SECONDS, Metric
from pipeline.metrics.registry import names_of


def test_all_metrics_are_reported_by_their_names() -> None:
    assert list(names_of(Metrics()).items()) == [(metric.name, metric) for metric in METRICS]


def test_every_metric_says_what_it_is() -> None:
    assert [metric.name for metric in METRICS if not metric.help.endswith(".")] == []


def test_a_metric_may_have_another_name() -> None:
    named = names_of(Metrics(rename={EVENTS.name: "events"}))
    assert named["events"] is EVENTS
    assert EVENTS.name not in named


def test_a_name_used_twice_is_refused() -> None:
    settings = Metrics(rename={DEFERRED.name: LAG_EVENTS.name})
    with pytest.raises(RefusedError, match=f"{DEFERRED.name} and {LAG_EVENTS.name} would both") as caught:
        names_of(settings)
    assert "metrics.rename" in str(caught.value.hint)


@pytest.mark.parametrize("ending", ["_bucket", "_sum", "_count"])
def test_a_histogram_has_more_names_than_its_own(ending: str) -> None:
    with pytest.raises(RefusedError, match="two metrics of one name"):
        names_of(Metrics(rename={DEFERRED.name: RECORD_SECONDS.name + ending}))


def test_a_counter_has_another_name_for_its_samples() -> None:
    one, other = Metric("events", "counter", "One."), Metric("events_total", "gauge", "Other.")
    for pair in ([one, other], [other, one]):
        with pytest.raises(RefusedError, match="two metrics of one name"):
            names_of(Metrics(), pair)


def test_the_incidents_policy_drops_the_second_in_silence() -> None:
    settings = Metrics(rename={LAG_EVENTS.name: DEFERRED.name}, on_collision="drop")
    named = names_of(settings)
    assert named[DEFERRED.name] is DEFERRED
    assert LAG_EVENTS not in named.values()
    assert len(named) == len(METRICS) - 1


def test_an_unknown_metric_is_refused_with_the_near_miss() -> None:
    with pytest.raises(RefusedError, match="no metric 'enrichment_event'") as caught:
        names_of(Metrics(rename={"enrichment_event": "x"}))
    assert "enrichment_events" in str(caught.value.hint)


@pytest.mark.parametrize("name", [RECORD_SECONDS.name, RECORD_SECONDS.name + "_bucket", EVENTS.name + "_total"])
def test_a_required_metric_may_be_asked_for_as_a_query_does(name: str) -> None:
    assert len(names_of(Metrics(required=(name,)))) == len(METRICS)


def test_a_required_metric_that_a_release_renamed_is_refused_with_its_new_name() -> None:
    settings = Metrics(required=(f"{RECORD_SECONDS.name}_count",), rename={RECORD_SECONDS.name: "event_seconds"})
    with pytest.raises(RefusedError, match=f"{RECORD_SECONDS.name}_count: .* {RECORD_SECONDS.name} as event_seconds"):
        names_of(settings)


def test_a_required_metric_may_be_the_new_name_of_another() -> None:
    assert "events" in names_of(Metrics(required=("events_total",), rename={EVENTS.name: "events"}))


def test_a_required_metric_that_a_collision_dropped_is_refused() -> None:
    settings = Metrics(required=(LAG_EVENTS.name,), rename={LAG_EVENTS.name: DEFERRED.name}, on_collision="drop")
    with pytest.raises(RefusedError, match=f"no metric is reported as {LAG_EVENTS.name}"):
        names_of(settings)


def test_a_required_metric_that_never_was_is_refused_with_the_near_miss() -> None:
    with pytest.raises(RefusedError, match="no metric is reported as enrichment_event_total") as caught:
        names_of(Metrics(required=("enrichment_event_total",)))
    assert "enrichment_events_total" in str(caught.value.hint)
