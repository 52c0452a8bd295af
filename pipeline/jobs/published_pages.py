"""What was last published of each page, for the diff to its next revision: a parent revision mostly is the one that the
page's last event was about, and need not be rendered again.

    begun ─▶ is the parent under way? wait for it ─▶ was it kept? ─▶ else the wiki is asked
      └─▶ published: kept for the page's next event
    read   an event that hides something of the page: nothing of it that is kept, or under way, is used any more

So the diff is to what was published before, also where the wiki renders it differently by now.
"""

import asyncio
import functools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pipeline.fetch.kept_revisions import KeptRevisions
from pipeline.jobs.large_work import LargeWork
from pipeline.records.page_change import PageChange
from pipeline.records.suppression import suppression_of

_Page = tuple[str, int]
_PUTS = LargeWork("large-page")


@dataclass(eq=False, slots=True)
class Publication:
    """One event of a page, from when its content is fetched until it is made. `is_hidden`: an event came behind it that
    hides something of the page. `compressed` is its content in gzip, where that is at hand.
    """

    event: PageChange
    since: int
    is_hidden: bool = False
    content: bytes | bytearray | None = None
    compressed: bytes | bytearray | None = None
    made: asyncio.Event = field(default_factory=asyncio.Event)


class PublishedPages:
    """One for each job in a worker, in one event loop. Without `kept` the wiki is always asked."""

    def __init__(self, kept: KeptRevisions | None) -> None:
        self._kept = kept
        self._under_way: dict[_Page, list[Publication]] = {}

    def read(self, event: PageChange) -> None:
        """Use nothing any more of a page that the event deletes, or of which it hides or shows something."""
        if self._kept is None or (event.kind != "visibility_change" and suppression_of(event.raw) is None):
            return
        for publication in self._under_way.pop(_page(event), ()):
            publication.is_hidden = True
        self._kept.drop(event.wiki_id, str(event.page_id))

    @asynccontextmanager
    async def publication(self, event: PageChange) -> AsyncIterator[Publication]:
        """While the event's content is fetched; what is its `content` by the end is kept."""
        publication = Publication(event, 0 if self._kept is None else self._kept.now())
        self._under_way.setdefault(_page(event), []).append(publication)
        try:
            yield publication
            await self._keep(publication)
        finally:
            publication.made.set()
            if not publication.is_hidden:
                of_page = self._under_way[_page(event)]
                of_page.remove(publication)
                if not of_page:
                    del self._under_way[_page(event)]

    async def _keep(self, publication: Publication) -> None:
        event, content = publication.event, publication.content
        if self._kept is None or content is None:
            return
        key = event.wiki_id, str(event.page_id), event.rev_id
        put = functools.partial(
            self._kept.put, *key, content, since=publication.since, compressed=publication.compressed
        )
        await _PUTS.run(put, size=len(content))

    async def parent(self, of: Publication, rev_id: int) -> bytes | bytearray | None:
        """The content of a revision as it was published, None where the wiki is to be asked. Waits for it where it is
        under way.
        """
        if self._kept is None:
            return None
        of_page = reversed(self._under_way.get(_page(of.event), []))
        under_way = next((one for one in of_page if one is not of and one.event.rev_id == rev_id), None)
        if under_way is not None:
            await under_way.made.wait()
            return under_way.content
        return self._kept.get(of.event.wiki_id, str(of.event.page_id), rev_id)


def _page(event: PageChange) -> _Page:
    return event.wiki_id, event.page_id
