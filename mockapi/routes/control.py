"""The control of the mock, under `/__mock/`: state, rules, truth. The journal's part is in `journal.py`.

Bodies are checked as a whole before anything changes. Every refusal is a list of {path, problem, hint}.
"""

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, TypeAdapter, ValidationError

from mockapi.catalog import CatalogPages
from mockapi.problems import Problem, near_miss, problems
from mockapi.routes.refusal import Refusal
from mockapi.routes.revision_html import truth
from mockapi.rules.model import Rule, Rules
from mockapi.rules.strict import Strict
from mockapi.world import World, Worlds


class NewState(Strict):
    """What `PUT /__mock/state` takes. Without `catalog` the default one of the seed."""

    seed: int
    catalog: CatalogPages | None = None
    rules: Rules = ()


class State(BaseModel):
    """What the mock answers from. `pages` and `revisions` count the catalog, `requests` those that have ended."""

    seed: int
    pages: int
    revisions: int
    rules: tuple[Rule, ...]
    requests: int


def state_routes(worlds: Worlds) -> APIRouter:
    """`/state`, `/rules`, `/truth`."""
    routes = APIRouter()

    @routes.get("/state", response_model_exclude_none=True)
    async def get_state() -> State:
        return _state(worlds.current)

    @routes.put("/state", response_model_exclude_none=True)
    async def put_state(request: Request) -> State:
        new: NewState = _checked(NewState, await request.body())
        worlds.replace(World(new.seed, new.catalog, new.rules, worlds.clock))
        return _state(worlds.current)

    @routes.get("/rules", response_model_exclude_none=True)
    async def get_rules() -> tuple[Rule, ...]:
        return worlds.current.rules

    @routes.put("/rules", response_model_exclude_none=True)
    async def put_rules(request: Request) -> tuple[Rule, ...]:
        worlds.current.replace_rules(_checked(Rules, await request.body()))
        return worlds.current.rules

    @routes.post("/rules", status_code=201, response_model_exclude_none=True)
    async def add_rule(request: Request) -> Rule:
        rule: Rule = _checked(Rule, await request.body())
        if rule.name in worlds.current.rule_names:
            problem = Problem("name", f"a rule {rule.name!r} is there already", "delete it first, or use another name")
            raise Refusal(409, [problem])
        worlds.current.replace_rules((*worlds.current.rules, rule))
        return rule

    @routes.delete("/rules", status_code=204)
    async def delete_rules() -> None:
        worlds.current.replace_rules(())

    @routes.delete("/rules/{name:path}", status_code=204)
    async def delete_rule(name: str) -> None:
        world = worlds.current
        if name not in world.rule_names:
            raise Refusal(404, [Problem("name", f"no rule {name!r}", near_miss(name, world.rule_names))])
        world.replace_rules(tuple(rule for rule in world.rules if rule.name != name))

    @routes.get("/truth/revision/{rev_id}")
    async def get_truth(rev_id: int, request: Request, wiki: str | None = None) -> Response:
        world = worlds.current
        located = world.titles.find(rev_id, host=request.headers.get("host", ""), wiki=wiki)
        if located is None:
            hint = "give ?wiki=, or see GET /__mock/state for the size of the catalog"
            raise Refusal(404, [Problem("rev_id", f"no revision {rev_id}" + (f" of {wiki}" if wiki else ""), hint)])
        return Response(await truth(world, located), media_type="text/html")

    return routes


def _state(world: World) -> State:
    return State(
        seed=world.seed,
        pages=world.titles.page_count,
        revisions=world.titles.revision_count,
        rules=world.rules,
        requests=world.journal.counts(()).requests,
    )


def _checked(root: Any, body: bytes) -> Any:
    """`body` as `root`, a model or an annotation of models; raises Refusal."""
    try:
        return TypeAdapter(root).validate_json(body)
    except ValidationError as error:
        raise Refusal(422, problems(error, root)) from None
