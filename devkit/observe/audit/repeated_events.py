"""Events of which several have one id, as their generator says: a program that removes duplicates may drop all but one.

of one id        left    not emitted
none of them     0       lost, each of them
some of them     n       dropped as repeats; n - 1 of those that left are repeats that a consumer gets to see
"""

from collections import Counter
from collections.abc import Collection, Iterable

from devkit.observe.audit.arrivals import Position
from devkit.observe.audit.source_event import SourceEvent

_Id = tuple[str, str | None]
"""Topic and id."""


class RepeatedEvents:
    """Those among the events that have a repeat, or are one."""

    def __init__(self, events: Iterable[SourceEvent]) -> None:
        found = [*events]
        ids = {_id(event) for event in found if event.entry.expected.repeat}
        self._of: dict[Position, _Id] = {}
        if ids:
            self._of = {event.position: _id(event) for event in found if _id(event) in ids}

    def left(self, emitted: Collection[Position]) -> Counter[_Id]:
        """How many events of each id are among those that left the program, or wait in it."""
        return Counter(self._of[position] for position in emitted if position in self._of)

    def without_these(self, left: Counter[_Id]) -> set[Position]:
        """Where the events lie of which another one with the same id is among `left`, or they are themselves."""
        return {position for position, of in self._of.items() if left[of]}


def _id(event: SourceEvent) -> _Id:
    return event.entry.topic, event.event_id
