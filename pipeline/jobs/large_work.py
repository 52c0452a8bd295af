"""Work on documents, in a thread of its own where they are large: deadlines of others must not wait for it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

# Up to here, in bytes or in characters, it takes a few milliseconds.
_LARGE = 1024 * 1024


class LargeWork:
    """One kind of work. A second piece of it at the same time would only take its memory, so there is one thread."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def run(self, work: Callable[[], T], *, size: int) -> T:
        """What `work` returns; `size` is that of all it reads."""
        if size > _LARGE:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        return work()
