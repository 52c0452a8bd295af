import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from pydantic import TypeAdapter

from devkit.scenario.traffic import ScenarioTraffic
from devkit.traffic.all_streams import generate_all
from devkit.traffic.model import TrafficSpec
from devkit.traffic.publish import partition_index
from devkit.traffic.received import received_now
from devkit.traffic.records import Traffic
from mockapi.wiki.catalog import CatalogPages
from tests.unit.devkit.traffic.capture.captures import BEGAN, capture_of, read_capture


def spec(path: Path, **written: Any) -> TrafficSpec:
    return TrafficSpec.model_validate({"from": str(path), **written})


@pytest.fixture(scope="module")
def path(mixed: Traffic, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return capture_of(mixed, tmp_path_factory.mktemp("captures") / "c.jsonl", partitions=3)


@pytest.fixture(scope="module")
def played(path: Path) -> Traffic:
    return generate_all(spec(path))


def test_the_events_of_a_capture_end_as_those_did_that_were_captured(mixed: Traffic, played: Traffic) -> None:
    assert len(played.records) == len(mixed.records)
    for before, after in zip(mixed.records, played.records, strict=True):
        one, other = before.expected, after.expected
        assert (other.fate, other.reason) == (one.fate, one.reason)
        assert (one.latest_revision is None) == (other.latest_revision is None)
        assert (one.parent_revision is None) == (other.parent_revision is None)


def test_times_sizes_keys_and_partitions_follow(mixed: Traffic, played: Traffic) -> None:
    pages: dict[bytes, bytes] = {}
    for before, after in zip(mixed.records, played.records, strict=True):
        assert abs(before.at - after.at) <= timedelta(milliseconds=1)
        # Here ids become longer; those of a real wiki have more digits than the mock's.
        assert 0 <= len(after.value) - len(before.value) <= 10
        assert after.partition == partition_index(before.key, 3)
        assert pages.setdefault(before.key, after.key) == after.key
    assert len(set(pages.values())) == len(pages)


def test_a_value_is_as_long_as_it_was_where_its_ids_become_shorter(mixed: Traffic, tmp_path: Path) -> None:
    def longer(value: bytes) -> bytes:
        return re.sub(rb'_id":([0-9]+)', rb'_id":7\1000000', value)

    records = tuple(replace(one, key=longer(one.key), value=longer(one.value)) for one in mixed.records)
    path = capture_of(Traffic(records, ()), tmp_path / "c.jsonl")
    for before, after in zip(records, generate_all(spec(path)).records, strict=True):
        assert len(after.value) == len(before.value)
        assert after.expected.fate == "error" or orjson.loads(after.value)


def test_whatever_is_fetched_is_in_the_mock(played: Traffic, path: Path) -> None:
    catalog = ScenarioTraffic(spec(path)).catalog()
    TypeAdapter(CatalogPages).validate_python(tuple(catalog))
    there = {(page.wiki, revision.rev_id): revision for page in catalog for revision in page.revisions}
    pages = {(page.wiki, page.page_id) for page in catalog}
    fetched = 0
    for record in played.records:
        expected = record.expected
        if expected.page is not None and expected.latest_revision is not None:
            assert (expected.page.wiki, expected.page.page_id) in pages
            assert expected.latest_revision // 4096 == expected.page.page_id
            assert (expected.page.wiki, expected.latest_revision) in there
            if expected.parent_revision is not None:
                parent = there[expected.page.wiki, expected.latest_revision].parent_id
                assert parent == expected.parent_revision
            fetched += 1
    assert fetched > 500


def test_ids_are_those_of_the_mock_everywhere_in_an_event(played: Traffic) -> None:
    for record in played.records:
        if (page := record.expected.page) is None:
            continue
        event = orjson.loads(record.value)
        assert record.key == orjson.dumps({"wiki_id": page.wiki, "page_id": page.page_id})
        for revision in (event["revision"], event.get("prior_state", {}).get("revision", {})):
            slots = revision.get("content_slots", {}).values()
            ids = [revision.get("rev_id"), revision.get("rev_parent_id"), *(slot["origin_rev_id"] for slot in slots)]
            assert {one // 4096 for one in ids if one} <= {page.page_id}


def test_the_same_file_gives_the_same_bytes(path: Path, played: Traffic) -> None:
    assert generate_all(spec(path)) == played
    assert generate_all(spec(path, seed=8)) == played


def test_a_rate_decides_when_events_are_published(path: Path, mixed: Traffic) -> None:
    twice, even = generate_all(spec(path, rate="x2")), generate_all(spec(path, rate="100/s"))
    assert [one.value for one in twice.records] == [one.value for one in even.records]
    for before, faster, evenly in zip(mixed.records, twice.records, even.records, strict=True):
        assert abs(before.at / 2 - faster.at) <= timedelta(milliseconds=1)
        assert abs(evenly.at - timedelta(seconds=evenly.index / 100)) <= timedelta(milliseconds=1)


def test_events_can_be_played_on_other_wikis(path: Path) -> None:
    wikis = {"dewiki": "de.wikipedia.org", "enwiki": "en.wikipedia.org"}
    made = generate_all(spec(path, wikis=wikis))
    assert {page.wiki for page in made.pages} == wikis.keys()  # commonswiki is played as the first one
    for record in made.records:
        if record.expected.page is not None:
            event = orjson.loads(record.value)
            assert event["meta"]["domain"] == wikis[event["wiki_id"]]
    ids = [(page.wiki, page.page_id) for page in made.pages]
    assert len(set(ids)) == len(ids)


def test_when_published_only_the_time_of_receipt_is_another(played: Traffic) -> None:
    stamped = 0
    for record in played.records:
        found = received_now(record, lambda: BEGAN)
        assert len(found.value) == len(record.value)
        if record.expected.fate == "output":
            after, before = orjson.loads(found.value), orjson.loads(record.value)
            assert after["meta"].pop("dt") == "2026-11-23T03:00:00.000Z"
            before["meta"].pop("dt")
            assert after == before
            stamped += 1
    assert stamped > 500


def test_what_was_no_json_is_none_of_the_same_length(path: Path, mixed: Traffic, played: Traffic) -> None:
    broken = [one for one in read_capture(path).records if one.unparsed]
    assert broken
    for before, after in zip(mixed.records, played.records, strict=True):
        if before.expected.reason == "malformed_json":
            with pytest.raises(orjson.JSONDecodeError):
                orjson.loads(after.value)
            assert len(after.value) == len(before.value)
