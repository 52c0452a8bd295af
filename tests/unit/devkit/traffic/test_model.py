"""The model of traffic, and streams of further topics beside the first one's."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from devkit.headroom.stretched_model import stretched
from devkit.traffic.all_streams import generate_all
from devkit.traffic.mix import Mix
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import GeneratedPage
from devkit.traffic.stream import MAX_EVENTS, NamedPage

BASE = {"generator": "page_change", "seed": 7, "rate": "20/s", "for": "10s"}
ALONE: dict[str, Any] = {"seed": 7, "rate": "20/s", "for": "2s", "population": 5, "pages": {"Huge": {}}}
LINKS: dict[str, Any] = {"topic": "links", "rate": "5/s", "for": "4s", "population": 5, "pages": {"Linked": {}}}


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


def spec(**streams: dict[str, Any]) -> TrafficSpec:
    return TrafficSpec.model_validate({**ALONE, "streams": streams})


def test_a_traffic_without_streams_is_of_the_first_topic_alone() -> None:
    made = generate_all(spec())
    assert {record.topic for record in made.records} == {None}
    assert [record.index for record in made.records] == list(range(41))


def test_a_stream_changes_nothing_of_the_first_topic() -> None:
    alone, both = generate_all(spec()), generate_all(spec(links=LINKS))
    first = [record for record in both.records if record.topic is None]
    assert [(one.at, one.key, one.value) for one in first] == [(one.at, one.key, one.value) for one in alone.records]


def test_records_of_all_streams_are_in_the_order_of_time() -> None:
    traffic = spec(links=LINKS)
    records = generate_all(traffic).records
    assert [record.index for record in records] == list(range(traffic.event_count)) == list(range(41 + 21))
    assert [record.at for record in records] == sorted(record.at for record in records)
    assert sum(record.topic == "links" for record in records) == 21
    assert traffic.titles == ("Huge", "Linked")


def test_each_stream_has_pages_of_its_own() -> None:
    pages = generate_all(spec(links=LINKS, more={**LINKS, "pages": {}})).pages
    assert len({page.page_id for page in pages}) == len(pages)
    assert len({(page.wiki, page.title) for page in pages}) == len(pages)


def test_two_streams_of_the_same_keys_have_other_events() -> None:
    made = generate_all(spec(a={**LINKS, "pages": {}}, b={**LINKS, "pages": {}, "topic": "b"}))
    values = [{record.value for record in made.records if record.topic == topic} for topic in ("links", "b")]
    assert not values[0] & values[1]


def test_a_stretch_reaches_them() -> None:
    slower = stretched(spec(links=LINKS), 2)
    assert (slower.streams["links"].rate, slower.streams["links"].for_) == (2.5, timedelta(seconds=8))
    assert slower.event_count == 41 + 21


def test_a_generator_is_given_the_pages_that_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from devkit.traffic import registry

    given: list[int] = []

    def generate(stream: Any, beside: tuple[GeneratedPage, ...]) -> Any:
        given.append(len(beside))
        assert (stream.seed != 7, stream.wikis) == (True, {"enwiki": "en.wikipedia.org"})
        return registry.GENERATORS["page_change"](stream, beside)

    monkeypatch.setitem(registry.GENERATORS._by_name, "mine", generate)
    made = generate_all(spec(links={**LINKS, "generator": "mine"}))
    assert given == [len(generate_all(spec()).pages)]
    assert any(record.topic == "links" for record in made.records)


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ({**LINKS, "topic": ""}, "streams.links.topic"),
        ({**LINKS, "generator": "page_chnge"}, "there is no generator 'page_chnge'"),
        ({**LINKS, "seed": 8}, "streams.links.seed"),
        ({**LINKS, "pages": {"Huge": {}}}, "page 'Huge' is in two streams, name it in one of them"),
        ({**LINKS, "rate": "1/h", "pages": {}}, "gives no event"),
    ],
)
def test_refused(links: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        spec(links=links)
    assert message in str(caught.value)
