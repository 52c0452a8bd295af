"""What differs between two records of the same question: the places, each with both values.

A place is written so that it says what a client would stumble over: `status`, `header Vary`, `order of headers`,
`json /query/pages/0/title`, `html line 12`. Where a whole part is of another kind, what is in it is not compared.
"""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.conformance.recorded import Record

ABSENT: Final = "(absent)"
_BODIES: Final = ("json", "html", "text", "page for people", "body", "unanswerable")
_HTML_PLACE: Final = "html"


@dataclass(frozen=True)
class Difference:
    """`place` is where; `real` and `mock` are short texts."""

    place: str
    real: str
    mock: str


def differences(real: Record, mock: Record) -> list[Difference]:
    """All differences of two records, none for equal ones."""
    return list(_differences(real, mock))


def _differences(real: Record, mock: Record) -> Iterator[Difference]:
    if real.get("status") != mock.get("status"):
        yield _difference("status", real.get("status", ABSENT), mock.get("status", ABSENT))
    yield from _headers(real.get("headers", []), mock.get("headers", []))
    kinds = [next((kind for kind in _BODIES if kind in record), ABSENT) for record in (real, mock)]
    if kinds[0] != kinds[1]:
        yield _difference("body", f"{kinds[0]}: {real.get(kinds[0])}", f"{kinds[1]}: {mock.get(kinds[1])}")
        return
    kind = kinds[0]
    if kind == _HTML_PLACE:
        yield from _html("html", real[kind], mock[kind])
    elif kind == "json":
        yield from _json("json", real[kind], mock[kind])
        if real["written"] != mock["written"]:
            yield _difference("how the JSON is written", real["written"], mock["written"])
    elif real.get(kind) != mock.get(kind):
        yield _difference(kind, real.get(kind), mock.get(kind))


def _headers(real: Sequence[Sequence[str]], mock: Sequence[Sequence[str]]) -> Iterator[Difference]:
    theirs, ours = _by_name(real), _by_name(mock)
    for name in {**theirs, **ours}:
        if theirs.get(name) != ours.get(name):
            yield _difference(
                f"header {name}", " and ".join(theirs.get(name, [ABSENT])), " and ".join(ours.get(name, [ABSENT]))
            )
    both = [[name for name in headers if name in theirs and name in ours] for headers in (theirs, ours)]
    if both[0] != both[1]:
        yield _difference("order of headers", ", ".join(both[0]), ", ".join(both[1]))


def _by_name(headers: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in headers:
        found.setdefault(name.lower(), []).append(value)
    return found


def _json(place: str, real: Any, mock: Any) -> Iterator[Difference]:
    if isinstance(real, Mapping) and isinstance(mock, Mapping):
        for key in real:
            if key not in mock:
                yield _difference(f"{place}/{key}", real[key], ABSENT)
        for key in mock:
            if key not in real:
                yield _difference(f"{place}/{key}", ABSENT, mock[key])
        both = [key for key in real if key in mock]
        if both != (order := [key for key in mock if key in real]):
            yield _difference(f"{place} order of members", ", ".join(both), ", ".join(order))
        for key in both:
            if key == _HTML_PLACE:
                yield from _html(f"{place}/{key}", real[key], mock[key])
            else:
                yield from _json(f"{place}/{key}", real[key], mock[key])
    elif isinstance(real, list) and isinstance(mock, list) and len(real) == len(mock):
        for number, (one, other) in enumerate(zip(real, mock, strict=True)):
            yield from _json(f"{place}/{number}", one, other)
    elif real != mock or type(real) is not type(mock):
        yield _difference(place, real, mock)


def _html(place: str, real: list[str] | str, mock: list[str] | str) -> Iterator[Difference]:
    """One difference for the head, one for the body: lines out of the diff of both."""
    if isinstance(real, str) or isinstance(mock, str):
        if real != mock:
            yield _difference(place, real, mock)
        return
    for part, lines, others in zip(("head", "body"), _parts(real), _parts(mock), strict=True):
        if lines != others:
            changes = [line for line in difflib.ndiff(lines, others) if line[0] in "+-"]
            theirs = [line[2:].strip() for line in changes if line[0] == "-"]
            ours = [line[2:].strip() for line in changes if line[0] == "+"]
            yield _difference(f"{place}, {part}", " ".join(theirs) or ABSENT, " ".join(ours) or ABSENT)


def _parts(lines: list[str]) -> tuple[list[str], list[str]]:
    at = next((number for number, line in enumerate(lines) if line.lstrip().startswith("<body")), 0)
    return lines[:at], lines[at:]


def _difference(place: str, real: Any, mock: Any) -> Difference:
    return Difference(place, _short(real), _short(mock))


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]}..."
