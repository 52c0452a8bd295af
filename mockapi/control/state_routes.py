"""`/state`: seed, pages and rules all at once; `/reset`: as at the start; `/truth`: a page without its faults."""

from typing import Final

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from located_config.near import near_miss
from mockapi.control.json_body import JsonBody
from mockapi.control.refusal import Problem, Refusal, only
from mockapi.errors import BaseUrlError
from mockapi.rules.model import Rule, Rules
from mockapi.server.fault_free import get_fault_free, get_html
from mockapi.values.strict import Strict
from mockapi.wiki.catalog import CatalogPages
from mockapi.world import RestbaseKind, World, Worlds


class NewState(Strict):
    """All that answers depend on. Without `catalog` the default one of the seed. `restbase` says who answers
    `/api/rest_v1`: today's gateway, or the service that was there before.
    """

    seed: int = Field(ge=-(2**63), lt=2**63)
    catalog: CatalogPages | None = None
    rules: Rules = ()
    restbase: RestbaseKind = "gateway"


class State(BaseModel):
    """What the mock answers from. `pages` and `revisions` count the catalog, `requests` those that have ended."""

    seed: int
    pages: int
    revisions: int
    rules: tuple[Rule, ...]
    requests: int
    restbase: RestbaseKind = "gateway"


NEW_STATE: Final = JsonBody[NewState](
    "new_state",
    NewState,
    {
        "one page that is always 404": {
            "seed": 7,
            "catalog": [
                {
                    "wiki": "dewiki",
                    "domain": "de.wikipedia.org",
                    "page_id": 1,
                    "namespace_id": 0,
                    "title": "Brücke",
                    "revisions": [{"rev_id": 4097, "parent_id": 0, "timestamp": "2026-01-01T00:00:00Z"}],
                }
            ],
            "rules": [{"name": "gone", "do": {"status": 404}}],
        },
        "the default pages": {"seed": 1},
    },
)


def state_routes(worlds: Worlds) -> APIRouter:
    """`/state` with seed, pages and rules, `/reset`, and `/truth`, the expected HTML."""
    routes = APIRouter(tags=["state"])
    no_parameters = [Depends(only())]

    @routes.get("/state", response_model_exclude_defaults=True, dependencies=no_parameters)
    async def get_state() -> State:
        """What the mock answers from."""
        return _state(worlds.current)

    @routes.put(
        "/state", response_model_exclude_defaults=True, dependencies=no_parameters, openapi_extra=NEW_STATE.extra
    )
    async def put_state(request: Request) -> State:
        """Populates the mock: seed, pages and rules at once, with an empty journal. Twice is the same as once."""
        new = await NEW_STATE.read(request)
        try:
            worlds.populate(new.seed, new.catalog, new.rules, restbase=new.restbase)
        except BaseUrlError as error:
            problem, _, hint = str(error).partition("\nhint: ")
            raise Refusal(422, [Problem("catalog", problem, hint)]) from None
        worlds.changes.note(request, "populated")
        return _state(worlds.current)

    @routes.post("/reset", response_model_exclude_defaults=True, dependencies=no_parameters)
    async def reset(request: Request) -> State:
        """Everything as it was when the mock started: its seed, pages and rules, and an empty journal."""
        worlds.reset()
        worlds.changes.note(request, "reset")
        return _state(worlds.current)

    @routes.get(
        "/truth/revision/{rev_id}",
        dependencies=[Depends(only("wiki"))],
        response_class=Response,
        responses={200: {"content": {"text/html": {}}}},
    )
    async def get_truth(rev_id: int, request: Request, wiki: str | None = None) -> Response:
        """The HTML that a fetch of this revision brings when it succeeds; not journalled, and no fault meets it."""
        world = worlds.current
        located = world.wikis.find(rev_id, host=request.headers.get("host", ""), wiki=wiki)
        if located is None:
            hint = "give ?wiki=, or see GET /__mock/state for the size of the catalog"
            raise Refusal(404, [Problem("rev_id", f"no revision {rev_id}" + (f" of {wiki}" if wiki else ""), hint)])
        body = await get_html(world, located)
        length = {"content-length": str(body.wire_bytes)}
        return StreamingResponse(body.pieces(), media_type="text/html", headers=length)

    @routes.get(
        "/truth",
        dependencies=[Depends(only("wiki", "path"))],
        response_class=Response,
        responses={200: {"description": "The body of the answer, with its content type."}},
    )
    async def get_truth_of_path(wiki: str, path: str) -> Response:
        """What a GET of this path of this wiki, a query with it, brings when it succeeds; not journalled, and no fault
        meets it. Any other outcome is a refusal with its status.
        """
        world = worlds.current
        asked = world.wikis.by_name(wiki)
        if asked is None:
            hint = near_miss(wiki, [known.name for known in world.wikis])
            raise Refusal(404, [Problem("wiki", f"no wiki {wiki}", hint)])
        reply = await get_fault_free(world, asked.domain, path)
        if reply.status != 200:
            hint = "a path and query of the wiki, such as /w/rest.php/v1/revision/4097"
            raise Refusal(reply.status, [Problem("path", f"the wiki answers {reply.status} to {path}", hint)])
        return StreamingResponse(reply.body.pieces(), media_type=reply.header(b"content-type"))

    return routes


def _state(world: World) -> State:
    return State(
        seed=world.seed,
        pages=world.wikis.page_count,
        revisions=world.wikis.revision_count,
        rules=world.rules,
        requests=world.journal.counts(()).requests,
        restbase=world.restbase,
    )
