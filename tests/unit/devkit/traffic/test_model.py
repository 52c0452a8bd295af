from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from devkit.traffic.mix import Mix
from devkit.traffic.model import TrafficSpec
from devkit.traffic.stream import MAX_EVENTS, NamedPage

BASE = {"generator": "page_change", "seed": 7, "rate": "20/s", "for": "10s"}


def _message(change: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        TrafficSpec.model_validate({**BASE, **change})
    return "\n".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in caught.value.errors())


def test_a_spec_is_read_as_a_scenario_writes_it() -> None:
    spec = TrafficSpec.model_validate(
        {**BASE, "pages": {"Huge": {"edits": 2, "event_bytes": "4MiB", "at": [0.9, 0.1]}}}
    )
    assert spec.for_ == timedelta(seconds=10)
    assert spec.wikis == {"enwiki": "en.wikipedia.org"}
    assert spec.drawn_count == 200
    assert spec.event_count == 202
    assert spec.pages["Huge"].event_bytes == 4 * 1024 * 1024
    assert spec.pages["Huge"].moments() == (0.1, 0.9)


def test_a_spec_survives_being_written_down() -> None:
    spec = TrafficSpec.model_validate({**BASE, "rate": "5/m", "for": "3m", "pages": {"Huge": {"event_bytes": "4MiB"}}})
    assert TrafficSpec.model_validate_json(spec.model_dump_json(by_alias=True)) == spec


def test_moments_are_spread_evenly_by_default() -> None:
    assert NamedPage(edits=4).moments() == (0.125, 0.375, 0.625, 0.875)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"for": "10sec"}, "for: unknown unit 'sec'"),
        ({"rate": "1/h"}, "rate 1/h for 10s gives no event"),
        ({"rate": "1000000/s"}, f"10000000 events are more than {MAX_EVENTS}, lower rate, for or edits"),
        ({"rate": "1e308/s"}, f"rate times for is more than {MAX_EVENTS} events, lower one of them"),
        (
            {"canaries": {"every": "1us"}},
            f"canaries.every gives 10000000 of 10000200 events, which are more than {MAX_EVENTS}",
        ),
        ({"seed": -1}, "seed: Input should be greater than or equal to 0"),
        ({"sede": 1}, "sede: Extra inputs are not permitted"),
        ({"generator": "edits"}, "generator: there is no generator 'edits'"),
        ({"mix": {"create": 1.5}}, "mix.create: more than the whole"),
        ({"mix": {"creation": 0.1}}, "mix.creation: Extra inputs are not permitted"),
        ({"wikis": {}}, "wikis: Dictionary should have at least 1 item"),
        ({"wikis": {"xwiki": "canary"}}, "the domain 'canary' marks probe events"),
        ({"wikis": {"En Wiki": "en.wikipedia.org"}}, "wikis.En Wiki"),
        ({"wikis": {"enwiki": "en wikipedia"}}, "wikis.enwiki"),
        ({"population": 0}, "population: Input should be greater than or equal to 1"),
        ({"pages": {"Huge": {"edits": 0}}}, "pages.Huge.edits"),
        ({"pages": {"Huge": {"event_bytes": "4 megs"}}}, "pages.Huge.event_bytes"),
        ({"pages": {"Huge": {"event_bytes": 0}}}, "pages.Huge.event_bytes"),
        ({"pages": {"Huge": {"edits": 2, "at": [0.5]}}}, "at names 1 moments for 2 edits, write one for each edit"),
        ({"pages": {"Huge": {"at": [1.5]}}}, "pages.Huge.at.0: more than the whole"),
        ({"pages": {"Größe": {}}}, "page title 'Größe': only printable ASCII"),
        ({"pages": {"A|B": {}}}, "page title 'A|B': may not contain |"),
        ({"pages": {"": {}}}, "page title '': between 1 and 255 characters"),
        ({"pages": {"A b": {}, "A_b": {}}}, "page titles 'A b' and 'A_b' are one page"),
    ],
)
def test_an_invalid_spec_names_place_value_and_remedy(change: dict[str, Any], expected: str) -> None:
    assert expected in _message(change)


def test_a_named_page_alone_is_traffic_enough() -> None:
    spec = TrafficSpec.model_validate({**BASE, "rate": "1/h", "pages": {"Huge": {}}})
    assert (spec.drawn_count, spec.event_count) == (0, 1)


@given(st.lists(st.floats(0, 1), min_size=11, max_size=11))
def test_a_mix_is_accepted_exactly_when_it_leaves_nothing_negative(shares: list[float]) -> None:
    fields = dict(zip(Mix.model_fields, shares, strict=True))
    if sum(shares) <= 1 + 1e-9:
        assert Mix.model_validate(fields).shares() == fields
    else:
        with pytest.raises(ValidationError, match="add up to"):
            Mix.model_validate(fields)


@pytest.mark.parametrize(
    ("given_shares", "redirect", "merge"),
    [({}, 0.01, 0.04), ({"merge": 0}, 0.01, 0), ({"create": 0.8}, 0.01, 0.01), ({"create": 0.82}, 0, 0)],
)
def test_shares_of_entities_alone_take_what_others_leave(
    given_shares: dict[str, float], redirect: float, merge: float
) -> None:
    mix = Mix.model_validate(given_shares).of_entities()
    assert (mix.redirect, mix.merge) == (pytest.approx(redirect), pytest.approx(merge))
