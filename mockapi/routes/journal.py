"""The journal's part of the control, under `/__mock/journal`."""

from typing import Annotated

from fastapi import APIRouter, Query

from mockapi.entry import Entry, InFlight
from mockapi.world import WorldCounts, Worlds


def journal_routes(worlds: Worlds) -> APIRouter:
    """Entries, counts, and requests in flight."""
    routes = APIRouter(prefix="/journal")

    @routes.get("")
    async def get_entries(
        rule: str | None = None,
        revision: int | None = None,
        request_id: str | None = None,
        limit: Annotated[int | None, Query(ge=0)] = None,
    ) -> list[Entry]:
        return worlds.current.journal.entries(rule=rule, revision=revision, request_id=request_id, limit=limit)

    @routes.get("/in-flight")
    async def get_in_flight() -> list[InFlight]:
        return worlds.current.journal.in_flight()

    @routes.get("/counts")
    async def get_counts() -> WorldCounts:
        return worlds.current.counts()

    @routes.delete("", status_code=204)
    async def clear() -> None:
        worlds.current.forget()

    return routes
