"""Which parts of an event stay in a capture, and what stands for the others.

It is listed what stays: a text stays where it is at a known place and has the form of what belongs there. Every other
text is replaced, also in events of a schema that is not known here. Numbers stay, as they are ids, sizes and counts; of
users only their magnitude does. Names of fields stay.
"""

import re
from collections import Counter
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import orjson

from devkit.traffic.capture.stand_ins import StandIns

_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,120}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_DOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?")
_SCHEMA = re.compile(r"/[a-z][a-z0-9_/.-]{0,120}")
_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9_/.+-]{0,60}")
_GROUP = re.compile(r"\*|[a-z][a-z0-9_-]{0,60}")

KEPT: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "$schema": _SCHEMA,
        "meta.stream": _NAME,
        "meta.dt": _TIME,
        "meta.id": _UUID,
        "meta.domain": _DOMAIN,
        "dt": _TIME,
        "wiki_id": _NAME,
        "changelog_kind": _NAME,
        "page_change_kind": _NAME,
        "revision.rev_dt": _TIME,
        "prior_state.revision.rev_dt": _TIME,
        "performer.groups": _GROUP,
        "revision.editor.groups": _GROUP,
        "prior_state.revision.editor.groups": _GROUP,
        "*revision.content_slots.*.slot_role": _TYPE,
        "*revision.content_slots.*.content_model": _TYPE,
        "*revision.content_slots.*.content_format": _TYPE,
    }
)
"""The texts that stay, by their place: each with the form that it needs to have."""

_URI = "meta.uri"
_URI_START = re.compile(r"https?://[A-Za-z0-9.:-]+/(?:wiki/)?")
_USER_ID = re.compile(r"(?:.*_)?(?:user|actor)(?:_central)?_id|central_user_id")
_EDIT_COUNT = re.compile(r"(?:.*_)?edit_?count")
_REGISTERED = "registration_dt"
_DIGIT = re.compile(r"\d")
_MOST_EXACT = 2**53
_MOST_FIELDS = 500


class Replacement:
    """Replaces in one event after the other, and counts in `fields` what it has replaced, by its place."""

    def __init__(self, stand_ins: StandIns) -> None:
        self._stand_ins = stand_ins
        self.fields: Counter[str] = Counter()

    def event(self, event: Any) -> Any:
        """The event with stand-ins. Raises RecursionError for one that is nested too deeply."""
        return self._value(event, "")

    def key(self, key: bytes) -> str:
        """Of a key that is a JSON object the ids stay; any other is a text."""
        try:
            fields = orjson.loads(key)
            if isinstance(fields, dict):
                return orjson.dumps(self._value(fields, "")).decode()
        except (orjson.JSONDecodeError, orjson.JSONEncodeError, RecursionError):
            pass  # what is nested too deeply is a text as well
        self._count("(key)")
        try:
            return self._stand_ins.text(key.decode())
        except UnicodeDecodeError:
            return self._stand_ins.text(key.decode("latin-1").translate(_ASCII))

    def _value(self, value: Any, place: str) -> Any:
        if isinstance(value, dict):
            return {name: self._value(member, f"{place}.{name}" if place else name) for name, member in value.items()}
        if isinstance(value, list):
            return [self._value(item, place) for item in value]
        if isinstance(value, str):
            return self._text(value, place)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._number(value, place)
        if isinstance(value, float) and value.is_integer() and abs(value) < _MOST_EXACT:  # 5.0 is an id like 5
            return float(self._number(int(value), place))
        return value

    def _text(self, text: str, place: str) -> str:
        form = _kept(place)
        if not text or (form is not None and form.fullmatch(text)):
            return text
        self._count(place)
        if place == _URI and (start := _URI_START.match(text)):
            return start[0] + self._stand_ins.text(text[start.end() :])
        if place.endswith(_REGISTERED) and _TIME.fullmatch(text):
            return f"{text[:4]}-01-01T00:00:00{_DIGIT.sub('0', text[19:])}"
        return self._stand_ins.text(text)

    def _number(self, number: int, place: str) -> int:
        name = place.rpartition(".")[2]
        if _USER_ID.fullmatch(name):
            self._count(place)
            return self._stand_ins.number(number)
        if _EDIT_COUNT.fullmatch(name) and number > 9:
            self._count(place)
            scale = int(10 ** (len(str(number)) - 1))
            return number // scale * scale
        return number

    def _count(self, place: str) -> None:
        if place in self.fields or len(self.fields) < _MOST_FIELDS:
            self.fields[place] += 1


_ASCII = {code: 0x61 + code % 26 for code in range(256)}


@lru_cache(maxsize=2048)
def _kept(place: str) -> re.Pattern[str] | None:
    return next((form for pattern, form in KEPT.items() if fnmatchcase(place, pattern)), None)
