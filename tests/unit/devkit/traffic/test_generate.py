"""What any traffic must be, whatever the spec."""

from collections import Counter
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devkit.errors import UsageError
from devkit.traffic.generate import generate
from devkit.traffic.mix import Mix
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import GeneratedRevision, SourceRecord, Traffic
from pipeline.schemas import page_change_validator

MIX = st.fixed_dictionaries({name: st.floats(0, 0.11) for name in Mix.model_fields if name != "merge"})
SPECS = st.builds(
    lambda seed, per_s, population, mix, wikis: TrafficSpec.model_validate(
        {
            "seed": seed,
            "rate": f"{per_s}/s",
            "for": "4s",
            "population": population,
            "mix": mix,
            "wikis": {f"w{n}wiki": f"w{n}.wikipedia.org" for n in range(wikis)},
            "pages": {"Some page": {"edits": 2}},
        }
    ),
    seed=st.integers(0, 2**64),
    per_s=st.integers(1, 30),
    population=st.integers(1, 30),
    mix=MIX,
    wikis=st.integers(1, 3),
)
STREAMS = settings(max_examples=40, deadline=None)


def _spec(**change: object) -> TrafficSpec:
    return TrafficSpec.model_validate({"seed": 7, "rate": "20/s", "for": "10s", **change})


def _parsed(record: SourceRecord) -> Any:
    """The event, or None."""
    try:
        return orjson.loads(record.value)
    except orjson.JSONDecodeError:
        return None


def _fate_by_content(value: bytes) -> tuple[str, str | None]:
    """What the documented rules make of the bytes alone; nothing the generator said is used."""
    try:
        event = orjson.loads(value)
    except orjson.JSONDecodeError:
        return "error", "malformed_json"
    if not page_change_validator().is_valid(event):
        return "error", "schema_violation"
    if event["meta"]["domain"] == "canary":
        return "filtered", "canary"
    revision = event["revision"]
    is_fetched = event["page_change_kind"] != "delete" and revision["is_content_visible"]
    if is_fetched and revision["content_slots"]["main"]["content_model"] != "wikitext":
        return "filtered", "content_model"
    return "output", None


def _revisions_by_content(event: Any) -> tuple[int | None, int | None]:
    revision, kind = event["revision"], event["page_change_kind"]
    if kind == "delete" or not revision["is_content_visible"]:
        return None, None
    return revision["rev_id"], revision.get("rev_parent_id") if kind in ("edit", "move") else None


@STREAMS
@given(SPECS)
def test_equal_specs_give_equal_traffic(spec: TrafficSpec) -> None:
    assert generate(spec) == generate(spec)


@STREAMS
@given(SPECS)
def test_the_stated_fate_is_the_one_the_content_asks_for(spec: TrafficSpec) -> None:
    for record in generate(spec).records:
        expected = record.expected
        assert (expected.fate, expected.reason) == _fate_by_content(record.value)
        event = _parsed(record)
        assert expected.event_id == (None if event is None else event["meta"]["id"])
        if expected.fate == "output":
            assert (expected.latest_revision, expected.parent_revision) == _revisions_by_content(event)
        else:
            assert (expected.latest_revision, expected.parent_revision) == (None, None)


@STREAMS
@given(SPECS)
def test_time_and_index_run_forward_inside_the_stretch(spec: TrafficSpec) -> None:
    records = generate(spec).records
    assert len(records) == spec.event_count
    assert [record.index for record in records] == list(range(len(records)))
    assert [record.at for record in records] == sorted(record.at for record in records)
    assert all(record.at <= spec.for_ for record in records)


@STREAMS
@given(SPECS)
def test_the_pages_hold_every_revision_that_events_and_pages_refer_to(spec: TrafficSpec) -> None:
    traffic = generate(spec)
    revisions: dict[int, tuple[int, GeneratedRevision]] = {}
    for number, page in enumerate(traffic.pages, 1):
        assert page.page_id == number
        assert [r.rev_id for r in page.revisions] == [number * 4096 + n for n in range(1, len(page.revisions) + 1)]
        assert [r.parent_id for r in page.revisions] == [0, *(r.rev_id for r in page.revisions[:-1])]
        assert [r.timestamp for r in page.revisions] == sorted(r.timestamp for r in page.revisions)
        assert spec.wikis[page.wiki] == page.domain
        revisions |= {revision.rev_id: (page.page_id, revision) for revision in page.revisions}
    assert len({(page.wiki, page.title) for page in traffic.pages}) == len(traffic.pages)
    for record in traffic.records:
        if record.expected.fate == "output" or record.expected.reason == "content_model":
            event = _parsed(record)
            revision = event["revision"]
            page_id, known = revisions[revision["rev_id"]]
            assert page_id == event["page"]["page_id"]
            assert revision.get("rev_parent_id", 0) == known.parent_id
            assert revision["rev_dt"] == known.timestamp.strftime("%Y-%m-%dT%H:%M:%SZ")


@STREAMS
@given(SPECS)
def test_the_key_names_the_page_even_where_the_value_cannot(spec: TrafficSpec) -> None:
    traffic = generate(spec)
    known = {(page.wiki, page.page_id) for page in traffic.pages} | {("example", 1)}
    for record in traffic.records:
        key = orjson.loads(record.key)
        assert record.key == orjson.dumps({"wiki_id": key["wiki_id"], "page_id": key["page_id"]})
        assert (key["wiki_id"], key["page_id"]) in known
        if (page := record.expected.page) is not None:
            event = _parsed(record)
            assert (page.wiki, page.page_id) == (key["wiki_id"], key["page_id"])
            of_event = event["page"]
            assert (page.wiki, page.page_id, page.title) == (
                event["wiki_id"],
                of_event["page_id"],
                of_event["page_title"],
            )


def test_only_events_that_give_a_page_change_name_a_page(mixed: Traffic) -> None:
    for record in mixed.records:
        readable = record.expected.fate == "output" or record.expected.reason == "content_model"
        assert (record.expected.page is not None) == readable


def test_ids_are_unique(mixed: Traffic) -> None:
    ids = [record.expected.event_id for record in mixed.records if record.expected.event_id]
    assert len(set(ids)) == len(ids) > 1100


def test_different_seeds_give_different_traffic_with_the_same_counts() -> None:
    one, two = generate(_spec(seed=1)), generate(_spec(seed=2))
    assert [r.value for r in one.records] != [r.value for r in two.records]
    fates = [Counter((r.expected.fate, r.expected.reason) for r in traffic.records) for traffic in (one, two)]
    assert fates[0] == fates[1]
    assert fates[0]["error", "malformed_json"] == 2


def test_the_default_mix_meets_every_fate() -> None:
    fates = Counter((r.expected.fate, r.expected.reason) for r in generate(_spec()).records)
    assert fates == {
        ("output", None): 182,
        ("filtered", "canary"): 4,
        ("filtered", "content_model"): 10,
        ("error", "malformed_json"): 2,
        ("error", "schema_violation"): 2,
    }


def test_every_wiki_gets_traffic(mixed: Traffic) -> None:
    assert {orjson.loads(record.key)["wiki_id"] for record in mixed.records} == {"enwiki", "commonswiki", "example"}


def test_values_are_compact_json_in_utf8(mixed: Traffic) -> None:
    valid = [record.value for record in mixed.records if record.expected.fate == "output"]
    assert all(orjson.dumps(orjson.loads(value)) == value for value in valid)
    assert any(not value.isascii() for value in valid)


def test_an_event_size_that_cannot_be_met_says_what_can() -> None:
    with pytest.raises(UsageError, match=r"pages\.Tiny\.event_bytes: 100 is too small, \d+ bytes are there") as caught:
        generate(_spec(pages={"Tiny": {"event_bytes": 100}}))
    assert caught.value.hint is not None
    least = int(caught.value.hint.split()[1])
    traffic = generate(_spec(pages={"Tiny": {"event_bytes": least}}))
    assert least in {len(record.value) for record in traffic.records}
    with pytest.raises(UsageError):
        generate(_spec(pages={"Tiny": {"event_bytes": least - 1}}))


def test_what_only_entities_have_is_refused() -> None:
    with pytest.raises(UsageError, match=r"traffic\.mix\.merge: pages have none"):
        generate(_spec(mix={"merge": "5%"}))


def test_a_page_that_runs_out_of_revision_ids_retires() -> None:
    spec = _spec(rate="5000/s", **{"for": "1s"}, population=1, mix=dict.fromkeys(Mix.model_fields, 0.0))
    traffic = generate(spec)
    longest = max(len(page.revisions) for page in traffic.pages)
    assert longest == 4095
    assert len({revision.rev_id for page in traffic.pages for revision in page.revisions}) == sum(
        len(page.revisions) for page in traffic.pages
    )


@pytest.mark.parametrize("seed", [1, 7])
def test_revisits_make_histories(seed: int) -> None:
    """Most edits have the page's event before as their parent; some pages have many events and most have few."""
    latest = dict[int, int]()
    parents_seen, events = list[bool](), Counter[int]()
    edits_alone = dict.fromkeys(Mix.model_fields, 0)
    for record in generate(_spec(seed=seed, rate="40/s", population=5_000, revisits="70%", mix=edits_alone)).records:
        event = _parsed(record)
        page, revision = event["page"]["page_id"], event["revision"]
        parents_seen.append(latest.get(page) == revision.get("rev_parent_id"))
        latest[page] = revision["rev_id"]
        events[page] += 1
    assert 0.6 < sum(parents_seen) / len(parents_seen) < 0.75
    assert max(events.values()) >= 15
    assert sorted(events.values())[len(events) // 2] <= 2
