"""`/page-changes`: the feed of changed pages, for who follows the wikis."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from pydantic import TypeAdapter

from mockapi.control.refusal import only
from mockapi.journal.page_feed import CHANGES_KEPT, FeedPage
from mockapi.world import Worlds

LONGEST_WAIT_S = 60
_PAGE = TypeAdapter(FeedPage)


def feed_routes(worlds: Worlds) -> APIRouter:
    """The feed, with a long poll."""
    routes = APIRouter(tags=["feed"])

    @routes.get(
        "/page-changes",
        response_model=FeedPage,
        response_model_exclude_none=True,
        dependencies=[Depends(only("after", "wait", "limit"))],
    )
    async def get_page_changes(
        after: Annotated[int, Query(ge=0)] = 0,
        wait: Annotated[float, Query(ge=0, le=LONGEST_WAIT_S)] = 0,
        limit: Annotated[int, Query(ge=1, le=CHANGES_KEPT)] = 1_000,
    ) -> Response:
        """What was written to the wikis' pages, in order: creations, edits, moves, deletions, restorations and changes
        of visibility, each with the page and its revision, also what is hidden from readers.

        `after` is the `n` of the last entry that was read. With `wait` the answer comes as soon as there is another
        one, or after that number of seconds. The newest 10000 are kept: if `first` is above `after` + 1, those between
        are lost. A reset or another state begins another `epoch`, and `n` goes on; another `feed` is that of a mock
        that was started again, and has to be read from 0.
        """
        await worlds.feed.wait(after, wait)
        return Response(
            _PAGE.dump_json(worlds.feed.page(after, limit), exclude_none=True), media_type="application/json"
        )

    return routes
