"""The schemas stated here against the ones Wikimedia published.

When `shared/schemas` (the published, materialised files) stands beside the checkout, every constraint is compared, and
both schemas must decide alike on valid and on mutated events. Without it, a committed table of facts takes its place:
the constraints it lists must be here, and nothing it refuses may be accepted. The test ids tell which one ran.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from devkit.traffic.generate import generate
from devkit.traffic.mix import Mix
from devkit.traffic.model import TrafficSpec
from pipeline import schemas

ROOMS = ("pipeline/schemas", "devkit/traffic")
REPOSITORY = Path(__file__).resolve().parents[2]
PUBLISHED = REPOSITORY.parent / "shared" / "schemas"

Table = dict[str, dict[str, Any]]
_TOP_CLOSED = {"type": "object", "additionalProperties": False}
_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}
_TIMESTAMP = {"type": "string", "format": "date-time", "maxLength": 128}
_META: Table = {
    "/meta": {"type": "object", "required": ["stream"]},
    "/meta/stream": {"type": "string", "minLength": 1},
    "/meta/dt": _TIMESTAMP,
    "/meta/uri": {"type": "string", "format": "uri-reference", "maxLength": 8192},
    "/dt": _TIMESTAMP,
}
PAGE_CHANGE_FACTS: Table = {
    **_META,
    "": {
        **_TOP_CLOSED,
        "required": [
            "$schema",
            "changelog_kind",
            "dt",
            "meta",
            "page",
            "page_change_kind",
            "revision",
            "wiki_id",
        ],
    },
    "/wiki_id": {"type": "string", "minLength": 1},
    "/changelog_kind": {"type": "string", "enum": ["delete", "insert", "update"]},
    "/page_change_kind": {
        "type": "string",
        "enum": ["create", "delete", "edit", "move", "undelete", "visibility_change"],
    },
    "/page": {**_TOP_CLOSED, "required": ["page_id", "page_title"]},
    "/page/page_id": _COUNT,
    "/page/redirect_page_link": _TOP_CLOSED,
    "/created_redirect_page": {**_TOP_CLOSED, "required": ["page_id", "page_title"]},
    "/revision": {**_TOP_CLOSED, "required": ["rev_dt", "rev_id"]},
    "/revision/rev_id": {**_COUNT, "minimum": 1},
    "/revision/rev_dt": _TIMESTAMP,
    "/revision/editor": _TOP_CLOSED,
    "/revision/content_slots": {"type": "object"},
    "/revision/content_slots/*": _TOP_CLOSED,
    "/revision/content_slots/*/content_size": _COUNT,
    "/performer/groups/[]": {"type": "string", "minLength": 1},
    "/prior_state": {"type": "object"},
    "/prior_state/page": _TOP_CLOSED,
    "/prior_state/revision": _TOP_CLOSED,
}
ERROR_FACTS: Table = {
    **_META,
    "": {**_TOP_CLOSED, "required": ["$schema", "dt", "emitter_id", "message", "meta"]},
    "/message": {"type": "string"},
    "/raw_event": {"type": "string"},
    "/error_type": {"type": "string"},
    "/triggered_by": {"type": "string"},
}


@dataclass(frozen=True, eq=False)
class Pair:
    """A schema of ours, what is known of the published one, and whether that is all of it."""

    ours: Path
    facts: Table
    published: Path | None

    def our_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = orjson.loads(self.ours.read_bytes())
        return schema

    def reference_schema(self) -> dict[str, Any]:
        if self.published is None:
            return _schema_of(self.facts)
        # Its metaschema address is one that no validator knows; the draft is named here instead.
        loaded: dict[str, Any] = yaml.safe_load(self.published.read_text(encoding="utf-8"))
        return {key: value for key, value in loaded.items() if key != "$schema"}


def _pair(ours: str, facts: Table, published: str) -> Any:
    path = PUBLISHED / published
    known = path if path.is_file() else None
    how = "published" if known else "committed-facts-only-since-no-published-schemas-beside-the-checkout"
    return pytest.param(Pair(Path(schemas.__file__).parent / ours, facts, known), id=f"{ours}-{how}")


PAGE_CHANGE = _pair("page_change.json", PAGE_CHANGE_FACTS, "mediawiki/page/change/1.2.0.yaml")
ERROR = _pair("error.json", ERROR_FACTS, "error/2.1.0.yaml")

_PAGE_CHANGE_FILES = ("page_change.json", "page_change_used.json")
_ANNOTATIONS = {"title", "description", "examples", "$id", "$schema", "definitions"}
_CONSTRAINTS = {"type", "enum", "required", "minimum", "maximum", "minLength", "maxLength", "format"}


def _constraints(schema: dict[str, Any]) -> Table:
    """Every constraint by the pointer of what it constrains; `*` is any other member, `[]` an item."""
    table: Table = {}

    def walk(node: dict[str, Any], pointer: str) -> None:
        if "$ref" in node:
            walk(schema["definitions"][node["$ref"].removeprefix("#/definitions/")], pointer)
            return
        here = table.setdefault(pointer, {})
        for keyword, value in node.items():
            if keyword in _CONSTRAINTS:
                here[keyword] = sorted(value) if isinstance(value, list) else value
            elif keyword == "properties":
                for name, member in value.items():
                    walk(member, f"{pointer}/{name}")
            elif keyword == "items":
                walk(value, f"{pointer}/[]")
            elif keyword == "additionalProperties" and isinstance(value, dict):
                walk(value, f"{pointer}/*")
            elif keyword == "additionalProperties":
                here[keyword] = value
            elif keyword == "allOf":
                for part in value:
                    walk(part, pointer)
            elif keyword not in _ANNOTATIONS:
                raise AssertionError(f"{pointer}: the comparison does not know the keyword {keyword!r}")

    walk(schema, "")
    return table


def _member_names(pair: Pair) -> set[str]:
    return {pointer.rpartition("/")[2] for pointer in _constraints(pair.our_schema())} - {"", "*", "[]"}


def _schema_of(facts: Table) -> dict[str, Any]:
    """A schema that refuses what the facts refuse. Members they leave out stay open, so an object is not closed."""
    root: dict[str, Any] = {}
    for pointer, constraints in sorted(facts.items()):
        node = root
        for name in pointer.split("/")[1:]:
            match name:
                case "*":
                    node = node.setdefault("additionalProperties", {})
                case "[]":
                    node = node.setdefault("items", {})
                case _:
                    node = node.setdefault("properties", {}).setdefault(name, {})
        node.update({key: value for key, value in constraints.items() if key != "additionalProperties"})
    return root


@pytest.mark.parametrize("pair", [PAGE_CHANGE, ERROR])
def test_constraints_are_the_published_ones(pair: Pair) -> None:
    ours = _constraints(pair.our_schema())
    assert {pointer: ours.get(pointer) for pointer in pair.facts} == pair.facts
    if pair.published is not None:
        assert ours == _constraints(pair.reference_schema())
    else:
        print(f"{PUBLISHED} is not there: {len(pair.facts)} committed facts compared, not every constraint")


def test_what_is_used_of_an_event_is_constrained_as_it_is_stated() -> None:
    """So that an event is read alike by either schema, in what counts."""
    room = Path(schemas.__file__).parent
    stated, used = (_constraints(orjson.loads((room / name).read_bytes())) for name in _PAGE_CHANGE_FILES)
    assert used.keys() <= stated.keys()
    for pointer, constraints in used.items():
        there = dict(stated[pointer])
        assert set(constraints.pop("required", ())) <= set(there.get("required", ())), pointer
        assert constraints.items() <= there.items(), pointer


@cache
def _compiled(pair: Pair) -> tuple[jsonschema_rs.Draft7Validator, jsonschema_rs.Draft7Validator]:
    return (
        jsonschema_rs.Draft7Validator(pair.our_schema(), validate_formats=True),
        jsonschema_rs.Draft7Validator(pair.reference_schema(), validate_formats=True),
    )


def _decide_alike(pair: Pair, event: object) -> bool:
    """Both decisions are compared; the one of ours is returned."""
    ours, reference = _compiled(pair)
    accepted = ours.is_valid(event)
    if pair.published is not None:
        assert accepted == reference.is_valid(event)
    elif accepted:
        reference.validate(event)
    return accepted


@cache
def _traffic() -> tuple[bytes, ...]:
    spec = TrafficSpec(
        seed=3,
        rate="20/s",
        for_="20s",
        mix=Mix(create=0.2, move=0.15, delete=0.15, undelete=0.1, visibility_change=0.15, not_schema=0.05),
    )
    readable = (record.value for record in generate(spec).records if record.expected.reason != "malformed_json")
    return tuple(readable)


ERROR_EVENT: dict[str, Any] = {
    "$schema": schemas.ERROR_URI,
    "meta": {
        "stream": "mw_page_html_content_change_enrich.error",
        "id": "3956d9c5-07b3-486e-83c9-24daeea843a9",
        "dt": "2026-03-02T09:00:01.300Z",
        "domain": "en.wikipedia.org",
        "request_id": "3811ad44-e2f9-4c03-b1a5-5a11a60b7bb6",
        "uri": "https://en.wikipedia.org/wiki/%C3%84pfel",
    },
    "dt": "2026-03-02T09:00:01Z",
    "emitter_id": "mw_page_html_content_change_enrich",
    "message": "the specified revision (99999999) does not exist",
    "error_type": "bad_revision",
    "stack": "",
    "errored_schema_uri": schemas.PAGE_CHANGE_URI,
    "errored_stream_name": "mediawiki.page_change.v1",
    "raw_event": "{}",
    "triggered_by": "eqiad.mediawiki.page_change.v1:/",
}


def test_generated_events_meet_the_same_decision() -> None:
    (pair,) = PAGE_CHANGE.values
    decisions = [_decide_alike(pair, orjson.loads(value)) for value in _traffic()]
    assert decisions.count(False) == 20, "the broken events, and no others, are refused"


def _containers(value: Any) -> Iterator[Any]:
    """Every object, and every list that has an item, of a JSON value."""
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from _containers(member)
    elif isinstance(value, list) and value:
        yield value
        for item in value:
            yield from _containers(item)


_JUNK: list[Any] = [
    *(None, True, 0, -1, 1, 1.0, 0.5, 2**53 - 1, 2**53),
    *("", "x", "x" * 129, "insert", "edit", "yesterday"),
    *("2026-03-02T09:00:00Z", "2026-03-02T09:00:00.5+01:00", "2026-03-02 09:00", "2026-13-02T09:00:00Z"),
    *("2026-03-02T09:00:00." + "0" * 107 + "Z", "2026-03-02T09:00:00." + "0" * 108 + "Z"),
    *("https://e.org/a", "not a uri", "\\", "/" + "a" * 8191, "/" + "a" * 8192),
    *([], [""], ["bot"], [1]),
    *({}, {"a": 1}, {"main": {}}, {"main": {"content_body": ""}}, {"page_id": 1, "page_title": "A"}),
]
JUNK = st.sampled_from(_JUNK).map(deepcopy)
NEW_MEMBERS = st.sampled_from(
    ["unknown", *sorted({name for pair in (PAGE_CHANGE, ERROR) for name in _member_names(*pair.values)})]
)


def _mutate(data: st.DataObject, event: dict[str, Any]) -> None:
    place = data.draw(st.sampled_from(list(_containers(event))))
    if isinstance(place, list):
        place[data.draw(st.integers(0, len(place) - 1))] = data.draw(JUNK)
    elif place and data.draw(st.booleans()):
        name = data.draw(st.sampled_from(sorted(place)))
        if data.draw(st.booleans()):
            place[name] = data.draw(JUNK)
        else:
            del place[name]
    else:
        place[data.draw(NEW_MEMBERS)] = data.draw(JUNK)


def _every_single_change(event: dict[str, Any]) -> Iterator[None]:
    """Changes the event in place, one member at a time: every wrong value in turn, then without it; then as it was."""
    for place in list(_containers(event)):
        for name in list(place) if isinstance(place, dict) else range(len(place)):
            before = place[name]
            for junk in _JUNK:
                place[name] = junk
                yield
            if isinstance(place, dict):
                del place[name]
                yield
            place[name] = before
        if isinstance(place, dict):
            place["unknown"] = 1
            yield
            del place["unknown"]


def test_each_member_of_an_event_of_each_kind_meets_the_same_bounds() -> None:
    (pair,) = PAGE_CHANGE.values
    events = [orjson.loads(value) for value in _traffic()]
    by_shape = {_shape(event): event for event in events if _compiled(pair)[0].is_valid(event)}
    kinds = {kind for kind, _ in by_shape}
    assert kinds == {"create", "edit", "move", "delete", "undelete", "visibility_change"}
    for event in by_shape.values():
        for _ in _every_single_change(event):
            _decide_alike(pair, event)


def _shape(event: dict[str, Any]) -> tuple[str, frozenset[str]]:
    return event["page_change_kind"], frozenset(event) | frozenset(event["page"])


def test_each_member_of_an_error_event_meets_the_same_bounds() -> None:
    (pair,) = ERROR.values
    event = deepcopy(ERROR_EVENT)
    for _ in _every_single_change(event):
        _decide_alike(pair, event)


@settings(max_examples=300, deadline=None)
@given(data=st.data(), mutations=st.integers(1, 3))
@pytest.mark.parametrize("pair", [PAGE_CHANGE])
def test_mutated_page_changes_meet_the_same_decision(pair: Pair, data: st.DataObject, mutations: int) -> None:
    event = orjson.loads(data.draw(st.sampled_from(_traffic())))
    for _ in range(mutations):
        _mutate(data, event)
    _decide_alike(pair, event)


@settings(max_examples=300, deadline=None)
@given(data=st.data(), mutations=st.integers(1, 3))
@pytest.mark.parametrize("pair", [ERROR])
def test_mutated_error_events_meet_the_same_decision(pair: Pair, data: st.DataObject, mutations: int) -> None:
    event = orjson.loads(orjson.dumps(ERROR_EVENT))
    assert _decide_alike(pair, event)
    for _ in range(mutations):
        _mutate(data, event)
    _decide_alike(pair, event)
