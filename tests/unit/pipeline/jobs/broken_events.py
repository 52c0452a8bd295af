"""Events that are no events: valid ones, broken at one place in every way that JSON, UTF-8 and the schema allow.

An edge is raw JSON, so that it may be what no serialiser writes. Where an edge happens to fit, the event stays valid.
"""

from collections.abc import Callable, Iterator
from typing import Any

import orjson
from hypothesis import strategies as st

Path = tuple[str | int, ...]

_PLACE = "@@edge@@"
_USER = {
    "user_text": "Ä",
    "user_id": 1,
    "groups": ["*", "user"],
    "is_bot": False,
    "is_system": False,
    "is_temp": False,
    "edit_count": 3,
    "registration_dt": "2020-01-01T00:00:00Z",
}

_NUMBERS = (b"0", b"-0.0", b"-1", b"1.5", b"7.0", b"1e2", b"1e400", b"-1e400", b"1e-400", b"9" * 5_000)
_NO_NUMBERS = (b"NaN", b"Infinity")
_LARGE = tuple(str(number).encode() for number in (2**53 - 1, 2**53, 2**63, 2**64, 2**70))
_TEXTS = (b'""', b'" "', b'"\\u0000"', b'"a\\u0000b"', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\ud83d\\ude00"')
_BYTES = (b'"\xed\xa0\x80"', b'"\xff"', b'"\x00"', b'"\xe2\x80\xa8"')
_PLACES = (b'"\\r\\nX-Evil: 1"', b'"../../../etc/passwd"', b'"http://elsewhere.test/"')
_TIMES = (b"2026-02-30T00:00:00Z", b"2016-12-31T23:59:60Z", b"0000-01-01T00:00:00Z", b"2026-03-02")
_LONG = (b"x" * 20_000, "\N{GRINNING FACE}".encode() * 5_000, b"\\u0001" * 5_000)
_MEMBERS = (b"[]", b"{}", b"[null]", b'[{"a": [1]}]', b'{"": null}', b'{"main": null}')
_TWICE = b'{"main": {"slot_role": "main", "content_model": "wikitext", "content_model": 7}}'
_DEEP = (b"[" * 300 + b"]" * 300, b"[" * 1_100 + b"]" * 1_100, b'{"a":' * 260 + b"1" + b"}" * 260)
_NO_JSON = (b"", b"[1,]", b"'x'", b"// x")
EDGES = [
    *(b"null", b"true", *_NUMBERS, *_NO_NUMBERS, *_LARGE, *_TEXTS, *_BYTES, *_PLACES),
    *(b'"%b"' % text for text in (*_TIMES, b"9999-12-31T23:59:59.999999999+23:59", *_LONG)),
    *(
        *_MEMBERS,
        b'{"main": {"slot_role": "main", "content_model": "wikitext", "content_model": 7}}',
        *_DEEP,
        *_NO_JSON,
    ),
]


def full_event(event: dict[str, Any]) -> dict[str, Any]:
    """The event with every member that the schema knows."""
    page, revision = event["page"], event["revision"]
    whole = {**revision, "rev_sha1": "x", "rev_size": 9, "is_minor_edit": False, "comment": "", "editor": _USER}
    whole |= {"is_content_visible": True, "is_editor_visible": True, "is_comment_visible": True}
    slot = {"slot_role": "main", "content_model": "wikitext", "content_format": "text/x-wiki", "content_size": 9}
    whole["content_slots"] = {"main": slot | {"content_sha1": "x", "origin_rev_id": 5}, "other": slot}
    link = {"page_title": "Ziel", "page_id": 8, "namespace_id": 0, "interwiki_prefix": "de", "is_redirect": False}
    return event | {
        "meta": event["meta"] | {"uri": "https://en.wikipedia.org/wiki/X", "request_id": "r"},
        "comment": "why",
        "performer": _USER,
        "page": page | {"is_redirect": True, "redirect_page_link": link, "revision_count": 2},
        "created_redirect_page": {"page_id": 8, "page_title": "Ziel", "namespace_id": 0, "is_redirect": True},
        "revision": whole,
        "prior_state": {"page": {"page_title": "Alt"}, "revision": {"rev_id": 5}, "new": 1},
    }


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Of all members and items, the whole of it included."""
    yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from paths(member, (*path, name))


def with_edge(event: dict[str, Any], path: Path, edge: bytes) -> bytes:
    """The event as JSON, with raw JSON at one place."""
    if not path:
        return edge
    copy = orjson.loads(orjson.dumps(event))
    holder = copy
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = _PLACE
    return orjson.dumps(copy).replace(orjson.dumps(_PLACE), edge)


def without(event: dict[str, Any], path: Path) -> bytes:
    copy = orjson.loads(orjson.dumps(event))
    holder = copy
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    return orjson.dumps(copy)


def with_member(event: dict[str, Any], name: str, edge: bytes) -> bytes:
    """With a member behind the others: a new one, or one that is there already."""
    return orjson.dumps(event)[:-1] + b"," + orjson.dumps(name) + b":" + edge + b"}"


def broken_values(event: dict[str, Any]) -> st.SearchStrategy[bytes | None]:
    """Values of messages, all of them made from one event."""
    whole = full_event(event)
    places = list(paths(whole))
    edge = st.sampled_from(EDGES)
    text = orjson.dumps(whole)
    at = st.integers(0, len(text))
    return st.one_of(
        st.builds(with_edge, st.just(whole), st.sampled_from(places), edge),
        st.builds(without, st.just(whole), st.sampled_from(places[1:])),
        st.builds(with_member, st.just(whole), st.sampled_from([*whole, "new", "", "\0", "a" * 3_000]), edge),
        at.map(lambda end: text[:end]),
        st.builds(lambda start, end: text[:start] + text[end:], at, at),
        st.builds(lambda start, splice: text[:start] + splice + text[start:], at, st.binary(min_size=1, max_size=4)),
        st.sampled_from(ENVELOPES).map(lambda wrapped: wrapped(text)),
        st.binary(max_size=64),
    )


ENVELOPES: list[Callable[[bytes], bytes | None]] = [
    lambda _: None,
    lambda _: b"",
    lambda _: b"\0" * 1_000,
    lambda text: b"\xef\xbb\xbf" + text,
    lambda text: text.decode().encode("utf-16"),
    lambda text: text + text,
    lambda text: b"[" + text + b"]",
    lambda text: text + b"\0",
    lambda text: b" \n" + text + b"\n ",
    lambda text: orjson.dumps(text.decode()),
]
