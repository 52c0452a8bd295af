"""What an editor shows beside each key of a scenario file."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from devkit.scenario.editor_schema import Schema, scenario_schema

SCHEMA = scenario_schema()


def keys(node: Schema, place: str = "", above: tuple[str, ...] = ()) -> Iterator[tuple[str, Schema]]:
    """Every key that a file may have, with its way from the top and its schema; a model inside itself ends it."""
    if (name := node.get("$ref", "").rpartition("/")[2]) and name not in above:
        yield from keys(SCHEMA["$defs"][name], place, (*above, name))
    for key, one in node.get("properties", {}).items():
        here = f"{place}.{key}" if place else key
        yield here, one
        yield from keys(one, here, above)
    for one in (one for form in ("anyOf", "oneOf", "allOf") for one in node.get(form, [])):
        yield from keys(one, place, above)
    for one in (node.get("items"), *node.get("prefixItems", [])):
        if isinstance(one, Mapping):
            yield from keys(dict(one), f"{place}[]", above)
    for one in (node.get("additionalProperties"), *node.get("patternProperties", {}).values()):
        if isinstance(one, Mapping):
            yield from keys(dict(one), f"{place}.NAME", above)


def is_described(node: Schema) -> bool:
    """By itself, or by what it refers to."""
    name = node.get("$ref", "").rpartition("/")[2]
    return bool(node.get("description")) or (bool(name) and is_described(SCHEMA["$defs"][name]))


def test_every_key_down_to_the_leaf_says_what_it_is_for() -> None:
    silent = sorted({place for place, one in keys(SCHEMA) if not is_described(one)})
    assert silent == []


@pytest.mark.parametrize(
    "place",
    [
        "arms.NAME.batch.max_offsets",
        "arms.NAME.supervisor.attempts",
        "arms.NAME.mock.rules[].do.latency.p50",
        "pipeline.sink.max.request.size",
        "tried_first.NAME.metrics.port",
        "programs.NAME.run",
        "programs.NAME.configuration.fetch.deadline",
        "timeline[].do.pause.part",
        "mock.rules[].when.window.from",
        "mock.rules[].do.capacity.parses",
        "expect.NAME[].restarts.at_least",
        "expect.NAME[].audit.lost.at_most",
        "expect.NAME[].compare.NAME.arms",
        "until.any[].metric.at_least",
    ],
)
def test_the_walk_comes_to_what_there_is(place: str) -> None:
    """Else a test that finds no silent key would say nothing."""
    assert place in {found for found, _ in keys(SCHEMA)}


def test_a_key_without_a_text_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(SCHEMA["$defs"]["Count"]["properties"]["at_least"], "description")
    assert "expect.NAME[].audit.lost.at_least" in {place for place, one in keys(SCHEMA) if not is_described(one)}


def test_configuration_is_a_part_of_one_so_nothing_of_it_is_required() -> None:
    parts: dict[str, Any] = {name: one for name, one in SCHEMA["$defs"].items() if name.startswith("Configuration")}
    assert len(parts) > 10
    assert [name for name, one in parts.items() if "required" in one] == []
