"""When the records of a capture came, and when they are played."""

from array import array
from collections.abc import Iterator, Sequence
from datetime import timedelta


class Arrivals:
    """Records as they are `add`ed, and by when they came: they are known by where their lines begin.

    Within a partition their order stays, also where a producer's clock went back: the later one then comes with it.
    """

    def __init__(self) -> None:
        self._newest: dict[tuple[str, int], int] = {}
        self._came_ms, self._lines = array("q"), array("q")

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, partition: tuple[str, int], timestamp_ms: int, line: int) -> int:
        """Returns when it came, in milliseconds since the epoch."""
        came_ms = self._newest[partition] = max(self._newest.get(partition, 0), timestamp_ms)
        self._came_ms.append(came_ms)
        self._lines.append(line)
        return came_ms

    def sort(self) -> None:
        """Sorts by arrival time; arrivals of the same time keep their order."""
        order = sorted(range(len(self)), key=self._came_ms.__getitem__)
        self._came_ms = array("q", map(self._came_ms.__getitem__, order))
        self._lines = array("q", map(self._lines.__getitem__, order))

    @property
    def lines(self) -> Sequence[int]:
        """The offset at which each line begins."""
        return self._lines

    @property
    def length(self) -> timedelta:
        """The time between the first and the last, once they are sorted."""
        return timedelta(milliseconds=self._came_ms[-1] - self._came_ms[0]) if self else timedelta(0)

    def scaled(self, length: timedelta, *, even: bool) -> Iterator[timedelta]:
        """When each is played, made to fill `length`; `even` spaces them evenly. None lies before the one before it."""
        captured = self.length
        for number, came_ms in enumerate(self._came_ms):
            if even:
                yield length * number / len(self)
            else:
                yield (
                    length * (timedelta(milliseconds=came_ms - self._came_ms[0]) / captured)
                    if captured
                    else timedelta(0)
                )
