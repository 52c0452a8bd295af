"""The error topics by type: the number of events that ended there, and the size of their largest record."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:  # the expectations are made of this, and they must not need Kafka
    from devkit.observe.audit.arrivals import Arrival, Position

_TYPE_FIELDS = ("error_type", "exception_type", "inconsistency")
UNTYPED = ""
"""The type of a record without one."""


@dataclass(frozen=True)
class ErrorEvents:
    """Of one `type`, the field `error_type`. `events` counts a source event once, `max_bytes` is the largest value."""

    type: str
    events: int
    max_bytes: int


class ErrorTally:
    """Fed with the records of the error topics. One that names no source event counts by itself."""

    def __init__(self) -> None:
        self._sources: dict[str, set[Position]] = {}
        self._max_bytes: dict[str, int] = {}

    def add(self, arrival: "Arrival") -> None:
        """In any order."""
        of_type = error_type(arrival.value) or UNTYPED
        own_place = (arrival.topic, arrival.partition, arrival.offset)
        self._sources.setdefault(of_type, set()).add(arrival.source or own_place)
        self._max_bytes[of_type] = max(len(arrival.value), self._max_bytes.get(of_type, 0))

    def kinds(self) -> tuple[ErrorEvents, ...]:
        """The most frequent first."""
        kinds = [ErrorEvents(name, len(places), self._max_bytes[name]) for name, places in self._sources.items()]
        return tuple(sorted(kinds, key=lambda kind: (-kind.events, kind.type)))


def error_type(value: bytes) -> str | None:
    """The `error_type` of an error event, the `exception_type` of a fetch_failure event, or the `inconsistency` of a
    state_inconsistency event; None where it has none.
    """
    try:
        event = orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
    names = [event.get(field) for field in _TYPE_FIELDS] if isinstance(event, dict) else []
    return next((name for name in names if isinstance(name, str)), None)


def of_type(kinds: Iterable[ErrorEvents], name: str | None) -> list[ErrorEvents]:
    """Those of a type; None is all."""
    return [kind for kind in kinds if name in (None, kind.type)]
