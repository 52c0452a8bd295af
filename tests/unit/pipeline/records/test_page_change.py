import json  # beside orjson, since it writes integers of any length
import uuid
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.output import HtmlContent, html_value
from pipeline.records.page_change import InvalidEventError, PageChange, parse, schema_of
from pipeline.schemas import PAGE_CHANGE_URI, html_change_validator
from tests.unit.pipeline.making import make_event

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=9,
)


def read(event: dict[str, Any], position: str = "t/0/1") -> PageChange:
    return parse(orjson.dumps(event), position)


def refused(value: bytes | None) -> tuple[str, str]:
    with pytest.raises(InvalidEventError) as caught:
        parse(value, "t/0/1")
    return caught.value.failure.error_type, caught.value.failure.message


def nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


def with_prior_state(event: dict[str, Any], state: bytes) -> bytes:
    return orjson.dumps(event)[:-1] + b',"prior_state":' + state + b"}"


def test_the_fields_that_decide() -> None:
    event = make_event("move", page_id=9)
    change = read(event)
    assert change.raw == event
    assert (change.kind, change.wiki_id, change.page_id) == ("move", "enwiki", 9)
    assert (change.rev_id, change.parent_id) == (9 * 4096 + 2, 9 * 4096 + 1)
    assert (change.domain, change.content_visible, change.content_model) == ("en.wikipedia.org", True, "wikitext")
    assert change.event_id == event["meta"]["id"]


def test_what_may_be_absent() -> None:
    change = read(make_event("delete", meta={"domain": None}, revision={"content_slots": None, "rev_parent_id": None}))
    assert (change.domain, change.parent_id, change.content_model) == (None, None, None)
    assert read(make_event(revision={"is_content_visible": False})).content_visible is False
    assert read(make_event(revision={"content_slots": {"other": {"content_model": "json"}}})).content_model is None


def test_revision_ids_are_integers_however_json_writes_them() -> None:
    change = read(make_event(page={"page_id": 5.0}, revision={"rev_id": 9007199254740991.0, "rev_parent_id": 41.0}))
    ids = [repr(number) for number in (change.page_id, change.rev_id, change.parent_id)]
    assert ids == ["5", "9007199254740991", "41"]
    assert read(make_event(revision={"rev_parent_id": 0})).parent_id is None, "0 is no parent"


@pytest.mark.parametrize("own_id", [None, "", "7", "x" * 9000, "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a\r\nHost: x"])
def test_an_event_without_a_usable_id_is_known_by_its_position(own_id: str | None) -> None:
    event = make_event(meta={"id": own_id})
    first, again, other = read(event, "t/0/1"), read(event, "t/0/1"), read(event, "t/0/2")
    assert uuid.UUID(first.event_id)
    assert first.event_id == again.event_id != other.event_id


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="tombstone"),
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="cut off"),
        pytest.param(b"NaN", id="not a number"),
        pytest.param(b"\xff\xfe", id="not UTF-8"),
        pytest.param(b"\xef\xbb\xbf{}", id="byte order mark"),
        pytest.param(b'{"a": "\\ud800"}', id="half a surrogate pair"),
        pytest.param(b'{"a": 1e400}', id="infinite"),
        pytest.param(b"9" * 5000, id="a long number"),
        pytest.param(nested(2000), id="2,000 levels"),
        pytest.param(nested(100_000), id="100,000 levels"),
        pytest.param(b"[" * 100_000, id="never closed"),
    ],
)
def test_what_is_not_json_is_malformed(value: bytes | None) -> None:
    error_type, message = refused(value)
    assert error_type == "malformed_json"
    assert f"{len(value or b'')} bytes" in message
    assert len(message) < 1000


@pytest.mark.parametrize("depth", [10, 100, 240])
def test_a_nested_event_passes(depth: int) -> None:
    change = parse(with_prior_state(make_event(), nested(depth)), "t/0/1")
    assert html_value(change, HtmlContent("<p>", 1, "diff"), stream="s").count(b'{"a":') == depth


@pytest.mark.parametrize("depth", [254, 260, 500, 1000])
def test_an_event_that_can_be_read_but_not_written_is_malformed(depth: int) -> None:
    """orjson reads a thousand levels and writes some 250; between the two lay an exception that ended the job."""
    assert refused(with_prior_state(make_event(), nested(depth)))[0] == "malformed_json"


@pytest.mark.parametrize("level", [(b"[", b"]"), (b'{"a":', b"}")], ids=["arrays", "objects"])
@pytest.mark.parametrize("depth", [*range(250, 260), 300, 1000])
def test_what_is_no_event_at_all_may_be_nested_too(level: tuple[bytes, bytes], depth: int) -> None:
    """The validator shows what it refuses, and raises when that is too deep to be shown."""
    assert refused(level[0] * depth + b"1" + level[1] * depth)[0] in {"malformed_json", "schema_violation"}


@pytest.mark.parametrize("value", [b"null", b"[]", b'"text"', b"41", b"{}"])
def test_json_that_is_no_event_is_a_violation(value: bytes) -> None:
    error_type, message = refused(value)
    assert error_type == "schema_violation"
    assert "(top)" in message


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"revision": {"rev_id": 2**53}}, "revision/rev_id"),
        ({"revision": {"rev_id": 10**40}}, "revision/rev_id"),
        ({"revision": {"rev_id": 1.5}}, "revision/rev_id"),
        ({"revision": {"rev_id": True}}, "revision/rev_id"),
        ({"revision": {"rev_id": "1/../../x"}}, "revision/rev_id"),
        ({"revision": {"rev_id": -1}}, "revision/rev_id"),
        ({"revision": []}, "revision"),
        ({"meta": {"id": 7}}, "meta/id"),
        ({"page_change_kind": "import"}, "page_change_kind"),
        ({"wiki_id": ""}, "wiki_id"),
        ({"comment": ["x" * 5000]}, "comment"),
    ],
)
def test_a_violation_names_its_place_and_is_short(change: dict[str, Any], place: str) -> None:
    error_type, message = refused(json.dumps(make_event(**change)).encode())
    assert error_type == "schema_violation"
    assert f" at {place}: " in message
    assert len(message) < 600


def deep_copy_with_new_fields(event: dict[str, Any]) -> dict[str, Any]:
    """With an unknown field in every object."""
    new: dict[str, Any] = {
        name: deep_copy_with_new_fields(v) if isinstance(v, dict) else v for name, v in event.items()
    }
    return new if "main" in event else new | {"added_later": {"a": [1]}}


@pytest.mark.parametrize("version", ["1.2.0", "1.3.0", "1.0.0"])
def test_fields_that_are_unknown_are_passed_on(version: str) -> None:
    event = deep_copy_with_new_fields(make_event("move", prior_state={"revision": {"rev_id": 4}}))
    event["$schema"] = f"/mediawiki/page/change/{version}"
    output = orjson.loads(html_value(read(event), None, stream="s"))
    assert output | {"meta": event["meta"], "$schema": event["$schema"]} == event
    html_change_validator().validate(output)
    assert output["meta"] == event["meta"] | {name: output["meta"][name] for name in ("stream", "id", "dt")}


def test_a_version_that_is_known_is_held_to_all_its_fields_and_another_to_those_that_are_used() -> None:
    event = make_event(changelog_kind="upsert", performer=["somebody"], page={"page_title": None})
    assert refused(orjson.dumps(event))[0] == "schema_violation"
    later = event | {"$schema": "/mediawiki/page/change/1.3.0"}
    assert read(later).raw == later
    error_type, message = refused(orjson.dumps(later | {"wiki_id": 7}))
    assert error_type == "schema_violation"
    assert message.startswith("not a /mediawiki/page/change/1.3.0 event at wiki_id: ")


@pytest.mark.parametrize("integer", [2**64 - 1, -(2**63), 10**18])
def test_an_integer_of_64_bits_is_passed_on_as_it_is(integer: int) -> None:
    output = orjson.loads(html_value(read(make_event() | {"added_later": [{"count": integer}]}), None, stream="s"))
    assert repr(output["added_later"]) == repr([{"count": integer}])


@pytest.mark.parametrize(
    "integer", [2**64, -(2**63) - 1, 10**40, -(10**300)], ids=["2**64", "-2**63-1", "long", "huge"]
)
@pytest.mark.parametrize("version", ["1.2.0", "1.3.0"])
def test_an_integer_that_would_leave_as_another_number_is_refused(version: str, integer: int) -> None:
    event = make_event() | {"$schema": f"/mediawiki/page/change/{version}", "added_later": [{"count": 0}]}
    digits = str(integer)
    value = orjson.dumps(event).replace(b'"count":0', b'"count":' + digits.encode())
    error_type, message = refused(value)
    assert error_type == "malformed_json"
    assert digits[:100] in message
    assert message.endswith(" is beyond 64 bits")
    assert len(message) < 300


def test_what_is_no_integer_may_be_as_large() -> None:
    text = "1" * 30 + "e+30"
    event = orjson.dumps(make_event(comment=text) | {"added_later": 0})
    change = parse(event.replace(b'"added_later":0', b'"added_later":1.5e300'), "t/0/1")
    assert (change.raw["comment"], change.raw["added_later"]) == (text, 1.5e300)


NO_PAGE_CHANGES = ("/some/other/9.9.9", "", "x" * 50_000)
NO_VERSIONS = ("", "/1.2", "/1.2.0\n", "/\N{ARABIC-INDIC DIGIT ONE}.2.0")


@pytest.mark.parametrize(
    ("named", "error_type"),
    [
        *((named, "unknown_schema") for named in NO_PAGE_CHANGES),
        *((f"/mediawiki/page/change{version}", "unknown_schema") for version in NO_VERSIONS),
        *((f"/mediawiki/page/change/{version}", "unknown_schema_version") for version in ("2.0.0", "0.9.0")),
        *((named, "schema_violation") for named in (7, None)),
    ],
)
def test_an_event_of_another_schema_or_major_version_is_refused(named: object, error_type: str) -> None:
    found, message = refused(orjson.dumps(make_event() | {"$schema": named}))
    assert found == error_type
    assert len(message) < 600


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (b'{"$schema": "/mediawiki/page/change/1.3.0"}', "/mediawiki/page/change/1.3.0"),
        (b'{"$schema": "/mediawiki/page/change/2.0.0"}', "/mediawiki/page/change/2.0.0"),
        (b'{"$schema": "/some/other/9.9.9"}', PAGE_CHANGE_URI),
        (b'{"$schema": 7}', PAGE_CHANGE_URI),
        # What names none counts as of the one that is stated here.
        *((value, PAGE_CHANGE_URI) for value in (None, b"", b"{", b"[]", b"{}")),
    ],
)
def test_the_schema_that_an_event_names(value: bytes | None, schema: str) -> None:
    assert schema_of(value) == schema


@pytest.mark.parametrize("member", ["dt", "meta", "page", "revision", "wiki_id", "comment"])
def test_null_is_not_absent(member: str) -> None:
    assert refused(orjson.dumps(make_event() | {member: None}))[0] == "schema_violation"


def test_the_last_of_two_members_with_one_name_counts() -> None:
    value = orjson.dumps(make_event())[:-1] + b',"wiki_id":"dewiki"}'
    change = parse(value, "t/0/1")
    assert change.wiki_id == change.raw["wiki_id"] == "dewiki"


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_in_order(value: bytes) -> None:
    assert refused(value)[0] in {"malformed_json", "schema_violation"}


@given(
    member=st.sampled_from(["meta", "page", "revision", "wiki_id", "comment", "prior_state", "performer", "dt", "new"]),
    value=ANY_JSON,
)
def test_an_event_with_any_member_is_refused_or_can_be_written(member: str, value: object) -> None:
    document = json.dumps(make_event() | {member: value}).encode()
    try:
        change = parse(document, "t/0/1")
    except InvalidEventError:
        return
    assert orjson.loads(html_value(change, None, stream="s"))["meta"]["stream"] == "s"
