"""`/journal`: what was asked and answered, why a rule did not fire, and what the control changed."""

from dataclasses import asdict, dataclass
from typing import Annotated

import orjson
from fastapi import APIRouter, Depends, Query, Request, Response

from mockapi.control.refusal import only
from mockapi.control.rule_routes import no_rule
from mockapi.journal.changes import ControlChange
from mockapi.journal.entry import Entry, InFlight
from mockapi.journal.journal import JournalFilter, Kept
from mockapi.rules.matching import Mismatch
from mockapi.world import World, WorldCounts, Worlds

_FILTERS = ("rule", "key", "revision", "request_id", "page", "path", "status", "since", "limit", "explain")


@dataclass(frozen=True, kw_only=True)
class Explained(Entry):
    """An entry, and under `why` what kept a rule from it: nothing, if the rule is among its `rules`."""

    why: tuple[Mismatch, ...]


@dataclass(frozen=True, kw_only=True)
class JournalCounts(WorldCounts):
    """`revision` counts the changes that were made by the control since the mock started; no world begins it anew."""

    revision: int


def journal_routes(worlds: Worlds) -> APIRouter:
    """Entries, counts, and requests in flight."""
    routes = APIRouter(prefix="/journal", tags=["journal"])
    no_parameters = [Depends(only())]

    @routes.get("", dependencies=[Depends(only(*_FILTERS))], response_model=list[Entry] | list[Explained])
    async def get_entries(
        rule: str | None = None,
        key: str | None = None,
        revision: int | None = None,
        request_id: str | None = None,
        page: str | None = None,
        path: str | None = None,
        status: Annotated[str | None, Query(pattern="^([1-5][0-9][0-9]|[1-5]xx|none)$")] = None,
        since: Annotated[int | None, Query(ge=0)] = None,
        limit: Annotated[int | None, Query(ge=0)] = None,
        explain: str | None = None,
    ) -> Response:
        """The kept requests that fit all that is given, newest last; of more than `limit`, the newest.

        `path` is a shell glob; `status` one, a class such as `5xx`, or `none`; `since` the `n` after which to begin.
        With `explain=RULE` each says under `why` what kept that rule, as it is now, from firing.
        """
        wanted = JournalFilter(
            rule=rule,
            key=key,
            revision=revision,
            request_id=request_id,
            page=page,
            path=path,
            status=status,
            since=since,
        )
        world = worlds.current
        kept_entries = world.journal.kept(wanted, limit=limit)
        if explain is None:
            return _json([kept.entry for kept in kept_entries])
        if explain not in world.rule_names:
            raise no_rule(world, explain)
        return _json([{**vars(kept.entry), "why": _why(world, explain, kept)} for kept in kept_entries])

    @routes.get("/in-flight", dependencies=no_parameters)
    async def get_in_flight() -> list[InFlight]:
        """The requests that have not ended, oldest first."""
        return worlds.current.journal.in_flight()

    @routes.get("/counts", dependencies=no_parameters)
    async def get_counts() -> JournalCounts:
        """What was counted since the journal was emptied, of all requests that ended, kept or not."""
        return JournalCounts(**vars(worlds.current.counts()), revision=worlds.changes.revision)

    @routes.get("/changes", dependencies=no_parameters)
    async def get_changes() -> tuple[ControlChange, ...]:
        """What the control changed since the mock started, when and by whom: the newest 1000, newest last.

        A client says who it is with `X-Changed-By`, else with its User-Agent.
        """
        return worlds.changes.kept

    @routes.delete("", status_code=204, dependencies=no_parameters)
    async def clear(request: Request) -> None:
        """Empties the journal and begins to count anew; what the control changed stays."""
        worlds.current.forget()
        worlds.changes.note(request, "emptied the journal")

    return routes


def _why(world: World, rule: str, kept: Kept) -> list[dict[str, str]]:
    if kept.subject is None:
        return []
    return [asdict(mismatch) for mismatch in world.rulebook.explain(rule, kept.subject, kept.entry.rules)]


def _json(entries: list[Entry] | list[dict[str, object]]) -> Response:
    # Ten thousand entries would take a validating serialiser most of a second, in which no other request is served.
    return Response(orjson.dumps(entries, option=orjson.OPT_UTC_Z), media_type="application/json")
