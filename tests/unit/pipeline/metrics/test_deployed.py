"""Dashboards and alerts name metrics that exist, and a dashboard shows all of its program's."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.metrics.apply_catalogue import APPLY_METRICS
from pipeline.metrics.catalogue import METRICS, Metric

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
