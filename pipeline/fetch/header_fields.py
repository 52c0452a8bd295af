"""Header fields in every form that HTTP allows: more lines than one, lists, empty elements, whitespace, quoted strings.

aiohttp has made their names case-insensitive.
"""

import functools
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol


class Headers(Protocol):
    """The part of aiohttp's headers that is needed here."""

    def getall(self, key: str, default: tuple[()], /) -> Sequence[str]:
        """The lines of a field."""
        ...


def elements(headers: Headers, name: str) -> list[str]:
    """The words of all lines of a list field, in order, without quotes."""
    return [word for line in headers.getall(name, ()) for word in _words(line)]


@functools.lru_cache(maxsize=64)
def media_type(content_type: str) -> str:
    """The media type of a `Content-Type` in lower case, without parameters; the first one where a proxy has joined
    several.
    """
    return content_type.partition(";")[0].partition(",")[0].strip().lower()


def content_coding(headers: Headers) -> str:
    """The coding of `Content-Encoding` in lower case; `identity` where the body is not encoded."""
    return _coding(tuple(headers.getall("Content-Encoding", ())))


@functools.lru_cache(maxsize=64)
def _coding(lines: tuple[str, ...]) -> str:
    codings = [word.lower() for line in lines for word in _words(line)]
    return ", ".join(coding for coding in codings if coding != "identity") or "identity"


def retry_after_s(headers: Headers, now: Callable[[], datetime]) -> float | None:
    """Seconds to wait, the most that any `Retry-After` asks for; None when there is none, or none can be read."""
    waits = [seconds for line in headers.getall("Retry-After", ()) for seconds in _seconds(line, now)]
    return max(waits, default=None)


def _seconds(line: str, now: Callable[[], datetime]) -> list[float]:
    words = _words(line)
    if all(word.isascii() and word.isdigit() for word in words):
        return [float(word) for word in words]
    try:
        # Reads the three forms of a date that HTTP has.
        moment = parsedate_to_datetime(_unquoted(line))
        # "-0000" and the form of asctime are UTC too, but come without a zone.
        return [max(0.0, ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now()).total_seconds())]
    except (ValueError, OverflowError):
        return []


def _words(line: str) -> list[str]:
    return [word for element in line.split(",") if (word := _unquoted(element))]


def _unquoted(value: str) -> str:
    return value.strip().strip('"').strip()
