"""Only a UUID identifies an event, whatever a producer writes in its place."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.event_id import event_id_headers, event_id_in, event_id_of, stated_id

ID = "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a"


NO_OBJECTS = (None, b"", b"null", b"7", b'"meta"', b"[]", b'[{"meta": {"id": "%s"}}]', b"{}")
ELSEWHERE = (b'{"id": "%s"}', b'{"meta": "%s"}', b'{"meta": {}}', b'{"meta": {"id": {"id": "%s"}}}')
NO_TEXTS = (b"null", b"5", b"true", b'["%s"]')
NO_UUIDS = (b"", b" %s", b"%s\\n", b"{%s}", b"urn:uuid:%s", b"\xef\xbc\x95d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a")
NO_CHARACTERS = (b"a" * 10_000_000, b"\\ud800", b"\xff")
NO_JSON = (b'"}, "comment": "\xff"}', b'"}', b'"}} more', b'"}, "x": ' + b"[" * 9_999)


@pytest.mark.parametrize(
    ("value", "event_id"),
    [
        (b'{"meta": {"id": "%s"}}', ID),
        (b' {"x": 1, "meta": {"dt": "x", "id": "%s"}} \n', ID),
        (b'{"meta": {"id": "other"}, "meta": {"id": "%s"}}', ID),
        (b'{"meta": {"id": "%s", "id": "other"}}', None),
        *((value, None) for value in (*NO_OBJECTS, *ELSEWHERE)),
        *((b'{"meta": {"id": ' + value + b"}}", None) for value in NO_TEXTS),
        *((b'{"meta": {"id": "' + value + b'"}}', None) for value in (*NO_UUIDS, *NO_CHARACTERS)),
        *((b'{"meta": {"id": "%s' + rest, None) for rest in NO_JSON),
    ],
    ids=lambda value: ascii(value)[:50],
)
def test_the_id_of_an_event(value: bytes | None, event_id: str | None) -> None:
    assert event_id_of(value and value.replace(b"%s", ID.encode())) == event_id


@given(
    st.recursive(
        st.none() | st.text() | st.just(ID), lambda part: st.dictionaries(st.sampled_from(["meta", "id"]), part)
    )
)
def test_it_is_the_same_of_an_event_that_was_read(document: object) -> None:
    try:
        value = orjson.dumps(document)
    except orjson.JSONEncodeError:
        return
    event_id = event_id_in(document)
    assert event_id == event_id_of(value)
    assert event_id in (None, ID)
    assert event_id_headers(event_id) in ((), (("source-event-id", ID.encode()),))


@pytest.mark.parametrize(
    ("value", "stated"),
    [(b'{"meta": {"id": "any"}}', "any"), (b'{"meta": {"id": 5}}', None), (b"{", None), (None, None)],
)
def test_what_stands_in_its_place(value: bytes | None, stated: str | None) -> None:
    assert stated_id(value) == stated
