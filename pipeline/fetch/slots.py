"""How many requests one Python worker has under way at once: in all, and of one wiki.

A wiki's own queue comes first, so that requests which wait for their wiki take no slot from the others.
"""

import asyncio


class RequestSlots:
    """`total` requests, and of each wiki `per_wiki` if that is given."""

    def __init__(self, total: int, per_wiki: int | None = None) -> None:
        self._total = asyncio.Semaphore(total)
        self._per_wiki = per_wiki
        self._wikis: dict[str, asyncio.Semaphore] = {}

    async def acquire(self, wiki_id: str) -> None:
        """Wait for a turn, which `release` ends. `wiki_id` is one of the configured."""
        if self._per_wiki is not None:
            await self._wikis.setdefault(wiki_id, asyncio.Semaphore(self._per_wiki)).acquire()
        try:
            await self._total.acquire()
        except BaseException:
            self._release_wiki(wiki_id)
            raise

    def release(self, wiki_id: str) -> None:
        """End a turn that `acquire` gave."""
        self._total.release()
        self._release_wiki(wiki_id)

    def _release_wiki(self, wiki_id: str) -> None:
        if self._per_wiki is not None:
            self._wikis[wiki_id].release()
