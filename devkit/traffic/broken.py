"""Events that no consumer can use: bytes that are not JSON, and JSON that is no page change.

Broken events start from a good one of a real page, so that only the breakage tells them apart. Variants take turns:
a handful of broken events already shows several kinds.
"""

from collections.abc import Callable
from random import Random

from pydantic import JsonValue

from devkit.traffic.page_change import JsonObject


def _truncated(value: bytes, rng: Random) -> bytes:
    return value[: rng.randint(1, len(value) - 1)]


def _not_utf8(value: bytes, rng: Random) -> bytes:
    middle = value.index(b'"stream":"') + len(b'"stream":"')
    return value[:middle] + rng.choice((b"\xff\xfe", b"\xc3", b"\x80")) + value[middle:]


def _empty(_value: bytes, _rng: Random) -> bytes:
    return b""


NOT_JSON: tuple[Callable[[bytes, Random], bytes], ...] = (_truncated, _not_utf8, _empty)


def not_json(turn: int, value: bytes, rng: Random) -> bytes:
    """`value`, a serialised event, damaged in the way whose turn it is."""
    return NOT_JSON[turn % len(NOT_JSON)](value, rng)


def _field_missing(event: JsonObject, rng: Random) -> None:
    del event[rng.choice(("dt", "wiki_id", "changelog_kind", "page_change_kind", "page"))]


_WRONG_VALUES: tuple[tuple[str, JsonValue], ...] = (
    ("wiki_id", 42),
    ("page", "Main_Page"),
    ("dt", "yesterday"),
    ("changelog_kind", "upsert"),
)


def _wrong_type(event: JsonObject, rng: Random) -> None:
    name, wrong = rng.choice(_WRONG_VALUES)
    event[name] = wrong


def _no_page_id(event: JsonObject, rng: Random) -> None:
    event["page"] = {rng.choice(("id", "title", "database")): "from another schema"}


def _revision_null(event: JsonObject, _rng: Random) -> None:
    event["revision"] = None


NOT_SCHEMA: tuple[Callable[[JsonObject, Random], None], ...] = (
    _field_missing,
    _wrong_type,
    _no_page_id,
    _revision_null,
)


def not_schema(turn: int, event: JsonObject, rng: Random) -> JsonObject:
    """A copy of `event` that breaks the schema in the way whose turn it is; `meta` stays whole."""
    broken = dict(event)
    NOT_SCHEMA[turn % len(NOT_SCHEMA)](broken, rng)
    return broken
