"""Dashboard and alerts name metrics that exist, and the dashboard shows all of them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.metrics.catalogue import METRICS

REPOSITORY = Path(__file__).parents[4]
DASHBOARD: dict[str, Any] = json.loads((REPOSITORY / "deploy/grafana/enrichment.json").read_text())
ALERTS: dict[str, Any] = yaml.safe_load((REPOSITORY / "deploy/prometheus/alerts.yaml").read_text())
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]

SERIES = {
    metric.sample_name + ending: metric
    for metric in METRICS
    for ending in (("_bucket", "_sum", "_count") if metric.kind == "histogram" else ("",))
}
EXPRESSIONS = [rule["expr"] for rule in RULES] + [target["expr"] for panel in PANELS for target in panel["targets"]]


def names(text: str) -> set[str]:
    return set(re.findall(r"\benrichment_\w+", text))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_what_is_asked_for_is_reported(expression: str) -> None:
    """Labels that it selects or groups by belong to one of its metrics."""
    found = names(expression)
    assert found <= SERIES.keys()
    known = {label for name in found for label in SERIES[name].labels} | {"le"}
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


def test_every_metric_is_on_the_dashboard() -> None:
    shown = names(" ".join(target["expr"] for panel in PANELS for target in panel["targets"]))
    assert {metric.name for metric in METRICS} == {SERIES[name].name for name in shown}


def test_panels_neither_overlap_nor_share_a_number() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_legends_show_labels_that_are_there() -> None:
    for target in (target for panel in PANELS for target in panel["targets"]):
        labels = {label for name in names(target["expr"]) for label in SERIES[name].labels}
        assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= labels, target["expr"]
