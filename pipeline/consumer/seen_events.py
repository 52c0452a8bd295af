"""What a record is beside those of its event that came before it.

    output ─▶ the same output           repeat           a batch was written again after a crash
    output ─▶ other bytes               differs          … and the upstream rendered otherwise
    output ─▶ error event               contradicts      … and the upstream refused what it had given before
    error event ─▶ output               contradicts      … or gave what it had refused before

An event is known by its source position, which both topics have in their headers. An output is known by its id besides:
the same event at another position, which an operator's replay made, has it too.
"""

from typing import Literal

from pipeline.consumer.delivery import Delivery
from pipeline.consumer.remembered import Remembered

Seen = Literal["new", "repeat", "differs", "contradicts"]


class SeenEvents:
    """Remembers the last `limit` source positions and as many ids, whatever comes."""

    def __init__(self, limit: int) -> None:
        self._sources, self._ids = Remembered(limit), Remembered(limit)

    def see(self, delivery: Delivery) -> Seen:
        """`new` is what stands for its event."""
        kind = delivery.kind.encode()
        stamp = kind + delivery.fingerprint
        first = self._sources.see(str(delivery.source), stamp)
        if first is not None and not first.startswith(kind):
            # Its id stays unknown: the same event at another position is new where this one ended in an error.
            return "contradicts"
        if delivery.kind == "output":
            of_id = self._ids.see(delivery.id, stamp)
            first = of_id if first is None else first
        if first is None:
            return "new"
        return "repeat" if first == stamp else "differs"
