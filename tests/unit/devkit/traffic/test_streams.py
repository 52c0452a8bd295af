"""Streams of further topics beside the first one's: what they share, and what each has of its own."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from devkit.headroom.stretched_model import stretched
from devkit.traffic.all_streams import generate_all
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import GeneratedPage

ALONE: dict[str, Any] = {"seed": 7, "rate": "20/s", "for": "2s", "population": 5, "pages": {"Huge": {}}}
LINKS: dict[str, Any] = {"topic": "links", "rate": "5/s", "for": "4s", "population": 5, "pages": {"Linked": {}}}


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
