import json
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import RefusedError
from pipeline.ops.copying import Copy
from pipeline.ops.fan_out import copied, page_key, require_target
from pipeline.ops.source import Bounds, SourceRecord

MakeEvent = Callable[..., dict[str, Any]]
KEY = b'{"wiki_id":"enwiki","page_id":7}'


def record(value: bytes | None, key: bytes | None = b"own") -> SourceRecord:
    return SourceRecord(1, 5, 1234, key, value, (("h", b"1"),))


def test_a_copy_has_its_pages_key_and_says_where_it_was(make_event: MakeEvent) -> None:
    value = orjson.dumps(make_event(page_id=7))
    marked = (("h", b"1"), ("copied-from", b"src/1/5"))
    assert copied(record(value), "src") == Copy(KEY, value, marked, None, 1234)


def test_events_of_a_page_have_one_key_whatever_else_they_say(make_event: MakeEvent) -> None:
    moved = make_event("move", page_id=7, page={"page_title": "Other", "page_id": 7.0})
    values = [orjson.dumps(one) for one in (make_event(page_id=7), make_event("delete", page_id=7), moved)]
    assert {page_key(record(value, key)) for value in values for key in (None, b"a", b"b")} == {KEY}
    assert page_key(record(orjson.dumps(make_event(page_id=7, wiki_id="dewiki")))) != KEY


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"{}",
        b'{"wiki_id":"enwiki"}',
        b'{"wiki_id":"enwiki","page":7}',
        b'{"wiki_id":"enwiki","page":{"page_id":null}}',
        b'{"wiki_id":"enwiki","page":{"page_id":7.5}}',
        b'{"wiki_id":"enwiki","page":{"page_id":true}}',
        b'{"wiki_id":"enwiki","page":{"page_id":"7"}}',
        b'{"wiki_id":null,"page":{"page_id":7}}',
    ],
)
def test_what_names_no_page_keeps_its_key(value: bytes | None) -> None:
    assert page_key(record(value)) == b"own"
    assert page_key(record(value, None)) is None


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["wiki_id", "page", "page_id"]), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["wiki_id", "page"]), JSON))
def test_any_value_can_be_copied(value: dict[str, Any]) -> None:
    text = json.dumps(value).encode()
    assert isinstance(page_key(record(text)), bytes)


@pytest.mark.parametrize(
    ("bounds", "why"),
    [
        (Bounds({0: 0}, {0: 0}), "is there with 1 partitions, not 2"),
        (Bounds({0: 0, 1: 3}, {0: 1, 1: 7}), "holds 5 records"),
    ],
)
def test_a_topic_that_is_not_the_one_that_would_be_made(bounds: Bounds, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        require_target(bounds, "t", 2)


def test_an_empty_topic_will_do() -> None:
    require_target(Bounds({0: 4, 1: 0}, {0: 4, 1: 0}), "t", 2)
