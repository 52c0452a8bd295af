"""What a dump has that is made while entities are changed."""

from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from devkit.headroom.stretched_model import stretched
from devkit.traffic.all_streams import generate_all
from devkit.traffic.entity_life import EntityLife, entity_id, entity_page
from devkit.traffic.model import TrafficSpec
from devkit.traffic.moments import EPOCH, RECEIVED_AFTER
from devkit.traffic.records import Traffic
from devkit.traffic.users import User

MIX = {"create": 0.1, "delete": 0.2, "undelete": 0.15, "merge": 0.1}
BEGINS, TAKES = timedelta(seconds=1), timedelta(seconds=2)


def spec_of(**keys: Any) -> TrafficSpec:
    base = {"seed": 5, "rate": "60/s", "for": "4s", "population": 20, "mix": MIX, "event_times": {"published": "x1"}}
    base |= {"generator": "wikibase_source", "wikis": {"wikidatawiki": "www.wikidata.org"}}
    return TrafficSpec.model_validate({**base, "dump": {"begins": "1s", "takes": "2s"}, **keys})


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
    traffic = generate_all(spec_of(seed=seed, wikibase_topics=delays, repeats={"share": "10%", "after": "1s"}))
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
    slower = stretched(spec_of(), 3)
    assert slower.dump is not None
    assert (slower.dump.begins, slower.dump.takes) == (3 * BEGINS, 3 * TAKES)
    assert generate_all(spec_of(dump=None)).dump is None


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"generator": "wikibase_change"}, "generator wikibase_change has none, leave it out or write `generator"),
        ({"event_times": "fixed"}, "dump is of event time, write `event_times: { published: at once }`"),
        ({"for": "2s"}, "it ends at 3s, after the traffic's end at 2s; lower begins or takes"),
        ({"dump": {"begins": "1s", "takes": "0s"}}, "takes"),
    ],
)
def test_settings_that_fit_nothing_are_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec_of(**keys)
