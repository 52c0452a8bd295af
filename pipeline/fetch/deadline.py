"""One deadline for all requests of a record, counted from the first of them.

The clock starts when the first request gets a connection slot: a record is not to blame for the queue before it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Begin:
    """Whether a deadline has begun, for a reader elsewhere."""

    noticed = False


_begin: ContextVar[Begin | None] = ContextVar("pipeline_deadline_begin", default=None)


@contextmanager
def noticed_begin() -> Iterator[Begin]:
    """Notices deadlines that begin within, in tasks that are started within too."""
    begin = Begin()
    token = _begin.set(begin)
    try:
        yield begin
    finally:
        _begin.reset(token)


def notice_begin() -> None:
    """Says that something has begun that need not be done again from its beginning."""
    if (begin := _begin.get()) is not None:
        begin.noticed = True


class Deadline:
    """`limit_s` seconds from `begin`, on a clock that counts seconds and never goes back."""

    def __init__(self, limit_s: float, clock: Callable[[], float]) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._ends: float | None = None

    def begin(self) -> None:
        """Start the clock; only the first call counts."""
        if self._ends is None:
            self._ends = self._clock() + self._limit_s
            notice_begin()

    def remaining_s(self) -> float:
        """Seconds remaining, at most 0 when it has passed; all of them before it has begun."""
        return self._limit_s if self._ends is None else self._ends - self._clock()

    @property
    def has_begun(self) -> bool:
        """False while the record's first request waits for a connection slot."""
        return self._ends is not None
