"""Long work outside the event loop: done in a thread, once for all who want it at the same time, given up half-way.

The work is a stream of pieces to be put together; between two of them it can be given up, which happens when the
server ends. The threads are the store's own, so that long work does not hold up what needs a thread for a moment.
"""

import asyncio
import threading
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

Make = Callable[[], Iterable[bytes]]

_THREADS: Final = 4


class Abandoned(Exception):  # noqa: N818 - not an error: no request waits for the result any more
    """The work was stopped half-way."""


class SharedWork:
    """To be used from one event loop."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="pages")
        self._under_way: dict[Hashable, asyncio.Task[bytes]] = {}

    async def result(self, key: Hashable, make: Make) -> bytes:
        """All that `make` gives; who asks for the same `key` meanwhile gets the same bytes."""
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._in_thread(make))
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        # A client that disconnects must not take the result away from the others.
        return await asyncio.shield(task)

    async def _in_thread(self, make: Make) -> bytes:
        abandon = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, collect, make, abandon)
        finally:
            abandon.set()


def collect(make: Make, abandon: threading.Event) -> bytes:
    """All that `make` gives; raises Abandoned soon after `abandon` is set."""
    pieces = []
    for piece in make():
        if abandon.is_set():
            raise Abandoned
        pieces.append(piece)
    return b"".join(pieces)
