"""Source events of generated entities: valid, and of lives that a wiki can have; and a dump made meanwhile."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from devkit.errors import UsageError
from devkit.headroom.stretched_model import stretched
from devkit.traffic.all_streams import generate_all
from devkit.traffic.entity_life import EntityLife, entity_id, entity_page
from devkit.traffic.event_time import received_at
from devkit.traffic.model import TrafficSpec
from devkit.traffic.moments import EPOCH, RECEIVED_AFTER, to_milliseconds
from devkit.traffic.received import received_now
from devkit.traffic.records import SourceRecord, Traffic
from devkit.traffic.users import User
from pipeline.schemas import updater_validator

MIX = {"create": 0.1, "delete": 0.15, "undelete": 0.1, "merge": 0.1, "not_json": 0.03, "not_schema": 0.04}
BOTH = {"active": {"eqiad": "0s", "codfw": "1s"}}
LATE = {**BOTH, "delays": {"page-delete": "2s", "revision-create": "1s"}}
OWN = {"published": "x1"}
DUMP_MIX = {"create": 0.1, "delete": 0.2, "undelete": 0.15, "merge": 0.1}
BEGINS, TAKES = timedelta(seconds=1), timedelta(seconds=2)
DUMP: dict[str, Any] = {"rate": "60/s", "for": "4s", "mix": DUMP_MIX, "wikibase_topics": None, "event_times": OWN}
DUMP |= {"dump": {"begins": "1s", "takes": "2s"}}


def spec_of(**keys: Any) -> TrafficSpec:
    base = {"seed": 5, "rate": "100/s", "for": "3s", "population": 20, "mix": MIX, "wikibase_topics": LATE}
    wikis = {"wikidatawiki": "www.wikidata.org"}
    return TrafficSpec.model_validate({"generator": "wikibase_source", "wikis": wikis, **base, **keys})


def traffic_of(**keys: Any) -> Traffic:
    return generate_all(spec_of(**keys))


def of_fate(traffic: Traffic, fate: str) -> list[SourceRecord]:
    return [record for record in traffic.records if record.expected.fate == fate]


def in_event_time(traffic: Traffic) -> list[tuple[SourceRecord, dict[str, Any]]]:
    """The events of entities without repeats; several of one entity are never of one time here."""
    events = [
        (record, orjson.loads(record.value)) for record in of_fate(traffic, "output") if not record.expected.repeat
    ]
    return sorted(events, key=lambda pair: pair[1]["meta"]["dt"])


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000))
def test_every_event_fits_its_schema(seed: int) -> None:
    canaries = {"every": "1s", "closing": {"after": "5s"}}
    traffic = traffic_of(seed=seed, canaries=canaries, event_times=OWN, repeats={"share": "5%", "after": "1s"})
    for record in traffic.records:
        if record.expected.reason == "malformed_json":
            with pytest.raises(orjson.JSONDecodeError):
                orjson.loads(record.value)
            continue
        event = orjson.loads(record.value)
        validator = updater_validator(event["$schema"])
        assert validator.is_valid(event) is (record.expected.reason != "schema_violation")
        assert record.topic is not None
        centre, _, stream = record.topic.partition(".")
        assert (centre in ("eqiad", "codfw"), event["meta"]["stream"]) == (True, stream)
        kind = stream.removeprefix("mediawiki.page-").replace("suppress", "delete")
        assert kind in (event["$schema"].split("/")[3], "mediawiki.revision-create")
        assert record.expected.event_id == event["meta"]["id"]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000))
def test_each_entity_has_a_life_that_a_wiki_can_have(seed: int) -> None:
    traffic = traffic_of(seed=seed)
    revisions = {page.title: [revision.rev_id for revision in page.revisions] for page in traffic.pages}
    last: dict[str, tuple[str, int]] = {}
    kinds = Counter[str]()
    for record, event in in_event_time(traffic):
        title, rev = event["page_title"], event["rev_id"]
        kind = event["meta"]["stream"].removeprefix("mediawiki.").replace("suppress", "delete")
        before, before_rev = last.get(title, ("nothing", revisions[title][0]))
        assert rev in revisions[title]
        if kind == "revision-create":
            assert before != "page-delete"
            is_first = "rev_parent_id" not in event
            assert is_first is (rev == revisions[title][0])
            assert is_first or event["rev_parent_id"] == before_rev
        else:
            assert rev == before_rev
            assert kind == "page-undelete" or before != "page-delete"
            assert kind != "page-undelete" or before in ("page-delete", "nothing")
        last[title] = kind, rev
        kinds[event["meta"]["stream"]] += 1
        assert record.expected.page is not None
        assert entity_id(record.expected.page.title)[0] in "QPL"
    assert len(kinds) == 4
    assert {title: rev for title, (_, rev) in last.items()} == {title: revisions[title][-1] for title in last}


def test_equal_seeds_give_equal_bytes_and_the_mix_its_counts() -> None:
    canaries = {"every": "1s", "closing": {"after": "5s", "partitions": 2}}
    keys: dict[str, Any] = {"canaries": canaries, "event_times": OWN}
    first, second = traffic_of(**keys), traffic_of(**keys)
    assert first == second != traffic_of(seed=6, **keys)
    assert [record.index for record in first.records] == list(range(spec_of(**keys).event_count))
    reasons = Counter(record.expected.reason for record in first.records)
    assert reasons == {None: 264, "malformed_json": 9, "schema_violation": 12, "not_an_entity": 9, "canary": 6 + 8 * 5}
    streams = Counter(event["meta"]["stream"] for _, event in in_event_time(first))
    assert streams["mediawiki.page-delete"] + streams["mediawiki.page-suppress"] == 45
    assert streams["mediawiki.page-undelete"] == 30


def test_each_topic_has_its_canaries() -> None:
    closing = {"after": "5s", "partitions": 2}
    traffic = traffic_of(mix={"canary": 0}, canaries={"every": "1s", "closing": closing}, event_times=OWN)
    canaries = [record for record in traffic.records if record.expected.reason == "canary"]
    assert set(Counter(record.topic for record in canaries).values()) == {3 + 2}
    assert len({record.topic for record in canaries}) == 8
    last = traffic.records[-16:]
    assert all(record.closes for record in last)
    assert {(record.topic, record.partition) for record in last} == {
        (record.topic, partition) for record in canaries for partition in (0, 1)
    }


def test_closing_canaries_are_that_much_later_than_any_event() -> None:
    """Also than late ones and repeats: these tell of earlier moments."""
    closing = {"after": "5s"}
    traffic = traffic_of(
        canaries={"every": "1s", "closing": closing}, event_times=OWN, repeats={"share": "5%", "after": "1s"}
    )
    times_ms = {
        closes: [r.timestamp_ms or 0 for r in traffic.records if r.closes is closes] for closes in (True, False)
    }
    assert min(times_ms[True]) - max(times_ms[False]) >= 5000
    assert all(earlier.closes <= later.closes for earlier, later in pairwise(traffic.records))


def test_changes_are_in_the_topics_of_the_active_data_centre() -> None:
    for record, event in in_event_time(traffic_of()):
        assert record.topic is not None
        is_before = event["meta"]["dt"] < to_milliseconds(received_at(timedelta(seconds=1), timedelta(0)))
        assert record.topic.startswith("eqiad." if is_before else "codfw.")


@pytest.mark.parametrize("event_times", ["fixed", OWN])
def test_an_event_is_published_up_to_its_delay_late(event_times: object) -> None:
    late: dict[str, list[timedelta]] = {}
    traffic = traffic_of(event_times=event_times, rate="300/s")
    assert [record.at for record in traffic.records] == sorted(record.at for record in traffic.records)
    for record, event in in_event_time(traffic):
        happened = record.at - record.delay
        assert event["meta"]["dt"] == to_milliseconds(received_at(happened, timedelta(0)))
        late.setdefault(event["meta"]["stream"], []).append(record.delay)
    assert late.pop("mediawiki.page-undelete") == [timedelta(0)] * 90
    assert not any(late.pop("mediawiki.page-suppress"))
    for stream, seconds in (("mediawiki.page-delete", 2), ("mediawiki.revision-create", 1)):
        of_stream = late.pop(stream)
        assert timedelta(seconds=0.8 * seconds) < max(of_stream) < timedelta(seconds=seconds)
        assert min(of_stream) < timedelta(seconds=0.2 * seconds)
        assert any(second < first for first, second in pairwise(of_stream))
    assert not late


def test_a_late_event_stays_as_much_before_its_publishing() -> None:
    record = next(record for record in traffic_of().records if record.delay)
    now = received_at(timedelta(hours=1), timedelta(0))
    received = orjson.loads(received_now(record, lambda: now).value)["meta"]["dt"]
    assert received == to_milliseconds(now - record.delay)
    on_time = replace(record, at=record.at - record.delay, delay=timedelta(0))
    assert orjson.loads(received_now(on_time, lambda: now).value)["meta"]["dt"] == to_milliseconds(now)


@pytest.mark.parametrize("event_times", ["fixed", OWN])
def test_a_repeat_is_the_same_event_published_later(event_times: object) -> None:
    traffic = traffic_of(repeats={"share": "10%", "after": "1s"}, event_times=event_times)
    repeats = [record for record in traffic.records if record.expected.repeat]
    assert len(repeats) == 30
    firsts = {record.value: record for record in traffic.records if not record.expected.repeat}
    for repeat in repeats:
        first = firsts[repeat.value]
        assert repeat.at == first.at + timedelta(seconds=1)
        assert (repeat.topic, repeat.key, repeat.timestamp_ms) == (first.topic, first.key, first.timestamp_ms)
        assert repeat.expected.may_lapse


def test_named_entities() -> None:
    traffic = traffic_of(pages={"Q42": {"edits": 3}, "Q64": {"error": "revision_not_found"}, "Lexeme:L7": {}})
    of_title = Counter(event["page_title"] for _, event in in_event_time(traffic))
    assert (of_title["Q42"], of_title["Lexeme:L7"]) == (3, 1)
    errors = [record.expected.reason for record in of_fate(traffic, "error")]
    assert errors.count("revision_not_found") == 1


def test_the_topics_are_those_of_the_generator() -> None:
    spec = spec_of(wikibase_topics=None)
    assert {record.topic for record in generate_all(spec).records if record.topic} <= {
        f"eqiad.mediawiki.{name}" for name in ("revision-create", "page-delete", "page-undelete", "page-suppress")
    }
    slower = stretched(spec_of(), 2)
    assert slower.wikibase_topics is not None
    assert slower.wikibase_topics.active["codfw"] == slower.wikibase_topics.longest_delay / 2 == timedelta(seconds=2)
    assert slower.last_event > 2 * timedelta(seconds=3) + timedelta(seconds=3)


MORE = {"topic": "more", "generator": "wikibase_source", "rate": "1/s", "for": "3s"}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"wikibase_topics": {"active": {"eqiad": "1s"}}}, "no data centre has the first changes"),
        ({"wikibase_topics": {"active": {"eqiad": "0s", "codfw": "0s"}}}, "begin at the same time"),
        ({"wikibase_topics": {"active": {"esams": "0s"}}}, "esams"),
        ({"wikibase_topics": {"delays": {"page-move": "1s"}}}, "page-move"),
        ({"generator": "wikibase_change"}, "generator wikibase_change has one topic"),
        ({"streams": {"more": MORE}}, "wikibase_source has topics of its own"),
        (
            DUMP | {"generator": "wikibase_change"},
            "generator wikibase_change has none, leave it out or write `generator",
        ),
        (DUMP | {"event_times": "fixed"}, "dump is of event time, write `event_times: { published: at once }`"),
        (DUMP | {"for": "2s"}, "it ends at 3s, after the traffic's end at 2s; lower begins or takes"),
        (DUMP | {"dump": {"begins": "1s", "takes": "0s"}}, "takes"),
    ],
)
def test_settings_that_fit_nothing_are_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec_of(**keys)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"pages": {"Berlin": {}}}, "'Berlin' is no entity of a Wikibase"),
        ({"pages": {"Q42": {"event_bytes": 3000}}}, "an event of an entity has one size"),
        ({"pages": {"Q42": {}}, "patch": [{"page": "Q42", "set": {"rev_id": 1}, "error": "a"}]}, "traffic.patch"),
    ],
)
def test_what_events_of_entities_do_not_have_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        traffic_of(**keys)


def dump_spec(**keys: Any) -> TrafficSpec:
    return spec_of(**DUMP | keys)


def changes(traffic: Traffic) -> dict[str, list[tuple[timedelta, int | None, bool]]]:
    """By entity, in order: the moment, the revision after it, and whether there was one before."""
    found: dict[str, list[tuple[timedelta, int | None, bool]]] = {entity_id(page.title): [] for page in traffic.pages}
    for record in traffic.records:
        if record.expected.fate == "output" and not record.expected.repeat:
            event = orjson.loads(record.value)
            kind, rev = event["$schema"].split("/")[3], event["rev_id"]
            moment = datetime.fromisoformat(event["meta"]["dt"]) - RECEIVED_AFTER - EPOCH
            was_there = kind == "delete" or (kind == "create" and "rev_parent_id" in event)
            found[entity_id(event["page_title"])].append((moment, None if kind == "delete" else rev, was_there))
    return {entity: sorted(of_entity, key=lambda change: change[0]) for entity, of_entity in found.items()}


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_each_entity_is_as_it_was_when_it_was_read(seed: int) -> None:
    delays = {"delays": {"page-delete": "2s", "revision-create": "1s"}}
    traffic = generate_all(dump_spec(seed=seed, wikibase_topics=delays, repeats={"share": "10%", "after": "1s"}))
    dump, of_entity = traffic.dump, changes(traffic)
    assert dump is not None
    assert (dump.begun, dump.ended) == (EPOCH + BEGINS, EPOCH + BEGINS + TAKES)
    for number, page in enumerate(traffic.pages):
        entity, read = entity_id(page.title), BEGINS + TAKES * number / len(traffic.pages)
        expected: int | None = page.revisions[0].rev_id
        if of_entity[entity] and not of_entity[entity][0][2]:
            expected = None
        for moment, revision, _ in of_entity[entity]:
            if moment <= read - timedelta(milliseconds=1):
                expected = revision
            elif moment < read + timedelta(milliseconds=1):
                break  # at one time, but for the digits that an event does not have
        else:
            assert dump.revisions.get(entity) == expected


def test_an_entity_at_any_moment() -> None:
    page = entity_page("wikidatawiki", "www.wikidata.org", 1, "Q1")
    page.revise(EPOCH, User("A", ("*",), user_id=1), "", 10, "x")
    life, first = EntityLife("Q1", page), page.latest.rev_id
    second = timedelta(seconds=1)
    life.change(second, None)
    life.change(2 * second, first)
    assert [life.revision_at(n * second / 2) for n in range(5)] == [first, first, None, None, first]
    life.is_there_before = False
    assert life.revision_at(second / 2) is None


def test_it_is_stretched_as_the_traffic_is() -> None:
    slower = stretched(dump_spec(), 3)
    assert slower.dump is not None
    assert (slower.dump.begins, slower.dump.takes) == (3 * BEGINS, 3 * TAKES)
    assert generate_all(dump_spec(dump=None)).dump is None
