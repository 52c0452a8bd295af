import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count


@dataclass(order=True)
class Due:
    at_s: float
    n: int
    call: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        self.cancelled = True


class ManualTime:
    """Time that a test moves; what is due is called on the way, in its order."""

    def __init__(self, now_s: float = 100.0) -> None:
        self.now_s = now_s
        self._due: list[Due] = []
        self._numbers = count()

    def monotonic(self) -> float:
        return self.now_s

    def later(self, seconds: float, call: Callable[[], None]) -> Due:
        due = Due(self.now_s + seconds, next(self._numbers), call)
        heapq.heappush(self._due, due)
        return due

    @property
    def pending(self) -> int:
        return sum(not due.cancelled for due in self._due)

    def stall_s(self, seconds: float) -> None:
        """Nothing is called, and then all that is due at once."""
        self.now_s += seconds
        while self._due and self._due[0].at_s <= self.now_s:
            due = heapq.heappop(self._due)
            if not due.cancelled:
                due.call()

    def pass_s(self, seconds: float) -> None:
        until_s = self.now_s + seconds
        while self._due and self._due[0].at_s <= until_s + 1e-9:
            due = heapq.heappop(self._due)
            self.now_s = due.at_s
            if not due.cancelled:
                due.call()
        self.now_s = until_s
