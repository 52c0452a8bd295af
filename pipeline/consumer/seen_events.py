"""What a record is beside those of its event that came before it.

    output ─▶ the same output                        repeat        a batch was written again after a crash
    output ─▶ other bytes                            differs       … and the upstream rendered otherwise
    output ─▶ error event                            contradicts   … and the upstream refused what it had given before
    error event ─▶ output of the same position       contradicts   … or gave what it had refused before
    error event ─▶ output of another position        new           the event was sent again, to have one

An output is known by its id. Its event is known by the id that the records of both topics have in their headers, and by
its position only where it has no id: a source topic that was made again has another event at the same position, and an
event that was sent again, or moved to another cluster, has another position.
"""

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from pipeline.consumer.delivery import Delivery
from pipeline.records.record import Position

V = TypeVar("V")


class Remembered(Generic[V]):
    """A cache of at most `limit` keys, about 200 bytes each. A key that was evicted is new again."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: dict[str, V] = {}

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: str) -> V | None:
        """None of a key that is not known; one that is known becomes the newest."""
        value = self._values.pop(key, None)
        if value is not None:
            self._values[key] = value
        return value

    def put(self, key: str, value: V) -> None:
        """The key becomes the newest."""
        self._values.pop(key, None)
        self._values[key] = value
        if len(self._values) > self._limit:
            del self._values[next(iter(self._values))]


Seen = Literal["new", "repeat", "differs", "contradicts"]


@dataclass(frozen=True, slots=True)
class _Error:
    """The error event that represents the event; `source` is the event's position when it failed last."""

    fingerprint: bytes
    source: Position


class SeenEvents:
    """Remembers the last `limit` events and as many outputs, whatever comes."""

    def __init__(self, limit: int) -> None:
        # Of an event that has an output, the id of its latest.
        self._events: Remembered[str | _Error] = Remembered(limit)
        self._outputs: Remembered[bytes] = Remembered(limit)

    def see(self, delivery: Delivery) -> Seen:
        """`new` is the record that represents its event."""
        known = self._events.get(delivery.event)
        return self._see_output(delivery, known) if delivery.kind == "output" else self._see_error(delivery, known)

    def _see_output(self, output: Delivery, known: str | _Error | None) -> Seen:
        if isinstance(known, _Error) and known.source == output.source:
            return "contradicts"
        self._events.put(output.event, output.id)
        fingerprint = self._outputs.get(output.id)
        if fingerprint is None:
            self._outputs.put(output.id, output.fingerprint)
        return _beside(fingerprint, output)

    def _see_error(self, error: Delivery, known: str | _Error | None) -> Seen:
        if isinstance(known, str):
            self._outputs.get(known)  # as long as the event is known, its output is
            return "contradicts"
        fingerprint = known.fingerprint if known else None
        self._events.put(error.event, _Error(fingerprint or error.fingerprint, error.source))
        return _beside(fingerprint, error)


def _beside(fingerprint: bytes | None, delivery: Delivery) -> Seen:
    if fingerprint is None:
        return "new"
    return "repeat" if fingerprint == delivery.fingerprint else "differs"
