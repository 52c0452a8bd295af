"""Names, units and types of metrics as Prometheus has them, and dashboards and alerts that name metrics that exist."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.registry import Collector

from pipeline.config.pipeline_config import Metrics
from pipeline.errors import RefusedError
from pipeline.metrics.apply_catalogue import APPLY_METRICS
from pipeline.metrics.catalogue import DEFERRED, EVENTS, LAG_EVENTS, METRICS, RECORD_SECONDS, Metric
from pipeline.metrics.exposition import families
from pipeline.metrics.measurements import Measurements, Recorder
from pipeline.metrics.registry import names_of

BASE_UNITS = ("seconds", "bytes", "celsius", "meters", "volts", "amperes", "joules", "grams", "ratio")
# By the base unit that is to be used in their place.
OTHER_UNITS = {
    "seconds": ("nanoseconds", "microseconds", "milliseconds", "minutes", "hours", "days", "weeks"),
    "bytes": ("bits", "kilobytes", "megabytes", "gigabytes", "terabytes", "kibibytes", "mebibytes", "gibibytes"),
    "ratio": ("percent", "percents"),
}
ABBREVIATIONS = {
    *("s", "ms", "us", "ns", "sec", "m", "min", "h", "hr", "d", "b", "kb", "mb", "gb", "tb", "pb", "kib", "mib", "gib"),
    *("c", "v", "a", "j", "g", "kg"),
}
TYPES = {"gauge", "counter", "histogram", "summary", "untyped", "info", "stateset"}
RESERVED = ("_bucket", "_count", "_sum", "_created")
REPOSITORY = Path(__file__).parents[4]
GRAFANA = REPOSITORY / "deploy/grafana"
DASHBOARDS: dict[str, Any] = {file.stem: json.loads(file.read_text()) for file in sorted(GRAFANA.glob("*.json"))}
ALERTS: dict[str, Any] = yaml.safe_load((REPOSITORY / "deploy/prometheus/alerts.yaml").read_text())
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
TARGETS = {
    name: [target for panel in dashboard["panels"] for target in panel.get("targets", ())]
    for name, dashboard in DASHBOARDS.items()
}

SERIES = {
    metric.sample_name + ending: metric
    for metric in (*METRICS, *APPLY_METRICS)
    for ending in (("_bucket", "_sum", "_count") if metric.kind == "histogram" else ("",))
}
EXPRESSIONS = [rule["expr"] for rule in RULES] + [target["expr"] for of in TARGETS.values() for target in of]
OF_SCRAPER = {"job", "instance"}
each_dashboard = pytest.mark.parametrize("dashboard", DASHBOARDS)


def problems(name: str, kind: str, text: str, labels: tuple[str, ...]) -> Iterator[str]:
    """What is wrong with a metric of that name on the page, which a counter's `_total` belongs to."""
    parts = name.split("_")
    if not text.strip():
        yield "no help"
    for word in (name, *labels):
        if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", word):
            yield f"{word} is not snake_case"
    if (kind == "counter") != name.endswith("_total"):
        yield "a counter ends in _total, and nothing else does"
    if kind not in ("histogram", "summary"):
        if name.endswith(RESERVED):
            yield "it ends as a part of a histogram does"
        if "le" in labels or "quantile" in labels:
            yield "its label is a histogram's or a summary's"
    if found := TYPES & {*parts}:
        yield f"a type in its name: {found}"
    if found := ABBREVIATIONS & {*parts}:
        yield f"an abbreviated unit: {found}"
    for unit, others in OTHER_UNITS.items():
        if found := {*others} & {*parts}:
            yield f"{found} in place of {unit}"
    named = [unit for unit in BASE_UNITS if unit in parts]
    if named and not name.removesuffix("_total").endswith(named[-1]):
        yield f"{named[-1]} is not its last word"


def page(metrics: tuple[Metric, ...]) -> str:
    recorder = Recorder()
    for metric in metrics:
        values = tuple(metric.labels[1:] if metric.of_worker else metric.labels)
        match metric.kind:
            case "counter":
                recorder.count(metric, *values)
            case "gauge":
                recorder.set(metric, 1, *values)
            case "histogram":
                recorder.observe(metric, 1, *values)

    class Reported(Collector):
        def collect(self):  # type: ignore[no-untyped-def]
            measurements = recorder.measurements()
            return families(names_of(Metrics(), metrics), measurements, {"main": measurements, "slow": Measurements()})

    registry = CollectorRegistry()
    registry.register(Reported())
    return generate_latest(registry).decode()


def linted(text: str) -> dict[str, list[str]]:
    helps = dict(re.findall(r"^# HELP (\S+) (.*)$", text, re.MULTILINE))
    kinds = re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE)
    found = {}
    for name, kind in kinds:
        samples = re.findall(rf"^{re.escape(name)}(?:_bucket|_sum|_count)?{{([^}}]*)}}", text, re.MULTILINE)
        labels = {label for sample in samples for label in re.findall(r'(\w+)="', sample)}
        own = labels - ({"le"} if kind == "histogram" else set())
        found[name] = list(problems(name, kind, helps.get(name, ""), tuple(sorted(own))))
    assert len(found) == len(kinds), "a metric twice"
    return found


@pytest.mark.parametrize("catalogue", [METRICS, APPLY_METRICS], ids=["job", "apply"])
def test_every_metric_follows_the_conventions(catalogue: tuple[Metric, ...]) -> None:
    found = linted(page(catalogue))
    assert len(found) == len(catalogue)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("metric", "wrong"),
    [
        (Metric("enrichment_things", "gauge", ""), "no help"),
        (Metric("enrichment_openThings", "gauge", "Some."), "is not snake_case"),
        (Metric("enrichment_things", "gauge", "Some.", ("ofPage",)), "ofPage is not snake_case"),
        (Metric("enrichment_things_total", "gauge", "Some."), "a counter ends in _total"),
        (Metric("enrichment_things_count", "gauge", "Some."), "ends as a part of a histogram"),
        (Metric("enrichment_things", "gauge", "Some.", ("le",)), "its label is a histogram's"),
        (Metric("enrichment_things_gauge", "gauge", "Some."), "a type in its name"),
        (Metric("enrichment_wait_ms", "gauge", "Some."), "an abbreviated unit"),
        (Metric("enrichment_wait_minutes", "gauge", "Some."), "in place of seconds"),
        (Metric("enrichment_bytes_in_flight", "gauge", "Some."), "bytes is not its last word"),
    ],
)
def test_what_breaks_a_convention_is_found(metric: Metric, wrong: str) -> None:
    ((_, (found, *_)),) = linted(page((metric,))).items()
    assert wrong in found


def test_all_metrics_are_reported_by_their_names() -> None:
    assert list(names_of(Metrics()).items()) == [(metric.name, metric) for metric in METRICS]


def test_every_metric_says_what_it_is() -> None:
    assert [metric.name for metric in METRICS if not metric.help.endswith(".")] == []


def test_a_metric_may_have_another_name() -> None:
    named = names_of(Metrics(rename={EVENTS.name: "events"}))
    assert named["events"] is EVENTS
    assert EVENTS.name not in named


SECONDS = RECORD_SECONDS.name
TO_LAG = {DEFERRED.name: LAG_EVENTS.name}
DROPPED: dict[str, Any] = {"rename": {LAG_EVENTS.name: DEFERRED.name}, "on_collision": "drop"}
NO_METRIC = "no metric is reported as"


@pytest.mark.parametrize(
    ("settings", "message", "hint"),
    [
        ({"rename": TO_LAG}, f"{DEFERRED.name} and {LAG_EVENTS.name} would both", "metrics.rename"),
        ({"rename": {DEFERRED.name: f"{SECONDS}_bucket"}}, "two metrics of one name", ""),
        ({"rename": {DEFERRED.name: f"{SECONDS}_sum"}}, "two metrics of one name", ""),
        ({"rename": {DEFERRED.name: f"{SECONDS}_count"}}, "two metrics of one name", ""),
        ({"rename": {"enrichment_event": "x"}}, "no metric 'enrichment_event'", "enrichment_events"),
        ({"required": ["enrichment_event_total"]}, f"{NO_METRIC} enrichment_event_total", "enrichment_events_total"),
        ({"required": [LAG_EVENTS.name], **DROPPED}, f"{NO_METRIC} {LAG_EVENTS.name}", ""),
        ({"required": [f"{SECONDS}_count"], "rename": {SECONDS: "s"}}, f"{SECONDS}_count: .* {SECONDS} as s\\b", ""),
    ],
    ids=[
        *("a name used twice", "a histogram's bucket", "a histogram's sum", "a histogram's count"),
        *("an unknown metric", "one that never was", "one that a collision dropped", "one that a release renamed"),
    ],
)
def test_names_that_fit_no_metric_are_refused(settings: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(RefusedError, match=message) as caught:
        names_of(Metrics(**settings))
    assert hint in str(caught.value.hint)


def test_a_counter_has_another_name_for_its_samples() -> None:
    one, other = Metric("events", "counter", "One."), Metric("events_total", "gauge", "Other.")
    for pair in ([one, other], [other, one]):
        with pytest.raises(RefusedError, match="two metrics of one name"):
            names_of(Metrics(), pair)


def test_the_incidents_policy_drops_the_second_in_silence() -> None:
    named = names_of(Metrics(**DROPPED))
    assert named[DEFERRED.name] is DEFERRED
    assert LAG_EVENTS not in named.values()
    assert len(named) == len(METRICS) - 1


@pytest.mark.parametrize("name", [RECORD_SECONDS.name, RECORD_SECONDS.name + "_bucket", EVENTS.name + "_total"])
def test_a_required_metric_may_be_asked_for_as_a_query_does(name: str) -> None:
    assert len(names_of(Metrics(required=(name,)))) == len(METRICS)


def test_a_required_metric_may_be_the_new_name_of_another() -> None:
    assert "events" in names_of(Metrics(required=("events_total",), rename={EVENTS.name: "events"}))


def names(text: str) -> set[str]:
    return set(re.findall(r"\benrichment_\w+", text))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_what_is_asked_for_is_reported(expression: str) -> None:
    """Labels that it selects or groups by belong to one of its metrics."""
    found = names(expression)
    assert found <= SERIES.keys()
    known = {label for name in found for label in SERIES[name].labels} | {"le"} | OF_SCRAPER
    grouped = [label.strip() for labels in re.findall(r"by \(([^)]*)\)", expression) for label in labels.split(",")]
    selected = re.findall(r"(\w+)\s*=~?", "".join(re.findall(r"enrichment_\w+\{([^}]*)\}", expression)))
    assert {*grouped, *selected} <= known


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_counters_are_looked_at_as_rates(expression: str) -> None:
    counters = {name for name in names(expression) if SERIES[name].kind != "gauge"}
    assert counters == set(re.findall(r"rate\((enrichment_\w+)", expression))


def test_alerts_watch_what_went_wrong() -> None:
    watched = "".join(rule["expr"] for rule in RULES)
    for name in ("lag_events", "last_commit", "deferral_max", "retries", "claim_checks"):
        assert name in watched, name
    assert all("for" in rule for rule in RULES), "one sample is no alert"
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    assert all({"summary", "action"} <= rule["annotations"].keys() for rule in RULES)


@pytest.mark.parametrize(("dashboard", "metrics"), [("enrichment", METRICS), ("apply", APPLY_METRICS)])
def test_every_metric_is_on_the_dashboard(dashboard: str, metrics: tuple[Metric, ...]) -> None:
    shown = names(" ".join(target["expr"] for target in TARGETS[dashboard]))
    assert {metric.name for metric in metrics} == {SERIES[name].name for name in shown}


def test_metrics_of_both_programs_are_asked_for_by_the_program() -> None:
    both = {metric.name for metric in METRICS} & {metric.name for metric in APPLY_METRICS}
    asked = [name for expression in EXPRESSIONS for name in re.findall(r"enrichment_\w+(?:\{[^}]*\})?", expression)]
    of_both = [name for name in asked if name.partition("{")[0] in both]
    assert of_both
    # That of the age of all lags is the same for all programs.
    assert [name for name in of_both if "job=" not in name] == ["enrichment_lag_timestamp_seconds"]


def test_dashboards_are_not_taken_for_each_other() -> None:
    for key in ("uid", "title"):
        assert len({dashboard[key] for dashboard in DASHBOARDS.values()}) == len(DASHBOARDS)


@each_dashboard
def test_panels_neither_overlap_nor_share_a_number(dashboard: str) -> None:
    panels = DASHBOARDS[dashboard]["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


@each_dashboard
def test_legends_show_labels_that_are_there(dashboard: str) -> None:
    for target in TARGETS[dashboard]:
        labels = {label for name in names(target["expr"]) for label in SERIES[name].labels} | OF_SCRAPER
        assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= labels, target["expr"]
