"""Which deferred events the starts of a program found unresolved: only those may they emit once more.

Each start writes a marker, a record with the key `epoch/<n>` or `epoch/<n>/<process>`, to each partition of the
deferral topic. What stands in the partition then is what that start takes over. A null value of an earlier epoch behind
the marker comes from a process that was given up, which a later start does not act on: it still finds the event.
"""

from collections import Counter, defaultdict

from devkit.observe.audit.arrivals import Position

_MARKER = b"epoch/"


class CarriedOver:
    """Fed with the records of each partition in their order."""

    def __init__(self) -> None:
        self._epochs: dict[int, int] = {}
        self._standing: defaultdict[int, set[Position]] = defaultdict(set)
        self._found: Counter[Position] = Counter()

    def take_marker(self, partition: int, key: bytes) -> None:
        """The record of a start; another note says nothing here."""
        number = key.removeprefix(_MARKER).split(b"/")[0]
        if key.startswith(_MARKER) and number.isdigit():
            self._epochs[partition] = max(int(number), self._epochs.get(partition, 0))
            self._found.update(self._standing[partition])

    def take_entry(self, partition: int, position: Position) -> None:
        """The event is deferred."""
        self._standing[partition].add(position)

    def take_resolved(self, partition: int, position: Position, epoch: bytes | None) -> None:
        """The event is resolved, as a process of this epoch says; None where it does not say which."""
        if epoch is None or not epoch.isdigit() or int(epoch) >= self._epochs.get(partition, 0):
            self._standing[partition].discard(position)

    def times(self, position: Position) -> int | None:
        """How many starts found the event unresolved; None where the program writes no markers."""
        return self._found[position] if self._epochs else None
