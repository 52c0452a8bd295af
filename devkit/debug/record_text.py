"""A record for a terminal, or as JSON: whatever is in it, nothing of it reaches the terminal as a control character."""

import base64
from datetime import UTC, datetime
from typing import Any

from devkit.stack.topic_reader import TopicRecord
from located_config.count import counted

_SHORT_VALUE = 160
_SHORT_HEADER = 80


def plain_line(record: TopicRecord, *, whole: bool = False) -> str:
    """One line: place, time, key, size, headers, and the value, its beginning alone unless `whole`."""
    size = "tombstone" if record.value is None else counted(len(record.value), "byte")
    headers = " ".join(f"{_safe(name)}={shown(value, _SHORT_HEADER)}" for name, value in record.headers)
    parts = [
        f"{record.topic}/{record.partition}/{record.offset}",
        _moment(record.timestamp_ms),
        f"key {shown(record.key, _SHORT_HEADER)}",
        size,
        *([f"[{headers}]"] if headers else []),
        *([shown(record.value, None if whole else _SHORT_VALUE)] if record.value is not None else []),
    ]
    return "  ".join(parts)


def json_object(record: TopicRecord, *, whole: bool = False) -> dict[str, Any]:
    """Bytes that are UTF-8 as text, others as `{"base64": …}`; the value's beginning alone unless `whole`."""
    longest = None if whole else _SHORT_VALUE
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": _moment(record.timestamp_ms),
        "key": _json_text(record.key),
        "headers": [[name, _json_text(value)] for name, value in record.headers],
        "value_bytes": None if record.value is None else len(record.value),
        "value": _json_text(record.value, longest),
    }


def shown(data: bytes | None, longest: int | None) -> str:
    """Bytes as text on one line, at most `longest` characters and a mark; what is no text is escaped."""
    if data is None:
        return "none"
    some = data if longest is None else data[: 4 * longest]
    try:
        text = _safe(some.decode())
    except UnicodeDecodeError as error:
        # The cut may have gone through a character.
        at_the_cut = len(some) < len(data) and error.start >= len(some) - 3
        text = _safe(some[: error.start].decode()) if at_the_cut else "".join(_byte(byte) for byte in some)
    if longest is None or (len(text) <= longest and len(some) == len(data)):
        return text
    return f"{text[:longest]}…"


def _byte(byte: int) -> str:
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}"


def _safe(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _json_text(data: bytes | None, longest: int | None = None) -> str | dict[str, str] | None:
    if data is None:
        return None
    try:
        return data.decode()[:longest]
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data[:longest]).decode()}


def _moment(milliseconds: int) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return f"{milliseconds} ms"
