"""What an editor shows beside each key of a scenario file."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from devkit.scenario.editor_schema import Schema, scenario_schema

SCHEMA = scenario_schema()
SENTENCE = re.compile(r"[A-Z0-9`].*\S \S.*[.]|[A-Z]\w+ \w+[.]", re.DOTALL)


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


def description(node: Schema) -> str:
    """Its own, or that of what it refers to."""
    name = node.get("$ref", "").rpartition("/")[2]
    return str(node.get("description") or (description(SCHEMA["$defs"][name]) if name else ""))


def silent() -> set[str]:
    """Keys without a sentence: one begins with a capital, a figure or code, and ends with a full stop."""
    return {place for place, one in keys(SCHEMA) if not SENTENCE.fullmatch(description(one))}


def test_every_key_down_to_the_leaf_says_what_it_is_for_in_a_sentence() -> None:
    assert sorted(silent()) == []


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
    assert "expect.NAME[].audit.lost.at_least" in silent()


@pytest.mark.parametrize("text", ["", "a number", "No stop", "Count.\n", "count."])
def test_what_is_no_sentence_would_be_found(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setitem(SCHEMA["$defs"]["Count"]["properties"]["at_least"], "description", text)
    assert "expect.NAME[].audit.lost.at_least" in silent()


def test_nothing_is_referred_to_that_is_not_there() -> None:
    def references(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            yield from (one for one in [node.get("$ref")] if isinstance(one, str))
        for one in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            yield from references(one)

    found = set(references(SCHEMA))
    assert len(found) > 50
    assert {one for one in found if one.removeprefix("#/$defs/") not in SCHEMA["$defs"]} == set()


def test_configuration_is_a_part_of_one_so_nothing_of_it_is_required() -> None:
    parts: dict[str, Any] = {name: one for name, one in SCHEMA["$defs"].items() if name.startswith("Configuration")}
    assert len(parts) > 10
    assert [name for name, one in parts.items() if "required" in one] == []
