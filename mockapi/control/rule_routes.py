"""`/rules` and `/status`: the faults, one by one or all at once, and their status.

`/rules` gives rules as they can be put back; `/status` also what remains of `ttl` and `times`, and what fired.
"""

from typing import Final

from fastapi import APIRouter, Depends, Request, Response

from located_config.near import near_miss
from mockapi.control.json_body import JsonBody
from mockapi.control.refusal import Problem, Refusal, only
from mockapi.faults.registry import FAULTS
from mockapi.rules.book import RuleStatus
from mockapi.rules.model import Rule, Rules
from mockapi.values.strict import Strict
from mockapi.world import World, Worlds


class Switch(Strict):
    """What can be changed of a rule that goes on."""

    enabled: bool


_SLOW: Final = {"name": "slow page", "when": {"page": "Main Page"}, "do": {"latency": "2s"}, "ttl": "5m"}
_EACH: Final = {
    name: {"name": name, "do": {name: fault.example}, **({"ttl": "30s"} if fault.group == "connection" else {})}
    for name, fault in FAULTS.items()
}

RULE: Final = JsonBody[Rule]("rule", Rule, {"slow page": _SLOW, **_EACH})
RULES: Final = JsonBody[tuple[Rule, ...]](
    "rules", Rules, {"two": [_SLOW, {"name": "gone", "do": {"status": 404}}], "none": []}
)
SWITCH: Final = JsonBody[Switch]("switch", Switch, {"off": {"enabled": False}, "on": {"enabled": True}})


def rule_routes(worlds: Worlds) -> APIRouter:
    """The rules of the world that is current when a request comes in."""
    routes = APIRouter(tags=["rules"], dependencies=[Depends(only())])

    @routes.get("/rules", response_model_exclude_defaults=True)
    async def get_rules() -> tuple[Rule, ...]:
        """All rules in their order, also those that are over or switched off."""
        return worlds.current.rules

    @routes.put("/rules", response_model_exclude_defaults=True, openapi_extra=RULES.extra)
    async def put_rules(request: Request) -> tuple[Rule, ...]:
        """Puts these rules in place of all others."""
        rules = await RULES.read(request)
        world = worlds.current
        names = dict.fromkeys((*world.rule_names, *(rule.name for rule in rules)))
        world.rulebook.replace(rules)
        worlds.changes.note(request, "replaced", names)
        return rules

    @routes.post("/rules", status_code=201, response_model_exclude_defaults=True, openapi_extra=RULE.extra)
    async def add_rule(request: Request) -> Rule:
        """Adds a rule after all others."""
        rule = await RULE.read(request)
        world = worlds.current
        if rule.name in world.rule_names:
            hint = "replace it with PUT /__mock/rules/{name}, delete it first, or use another name"
            raise Refusal(409, [Problem("name", f"a rule {rule.name!r} is there already", hint)])
        world.rulebook.put(rule)
        worlds.changes.note(request, "added", (rule.name,))
        return rule

    @routes.delete("/rules", status_code=204)
    async def delete_rules(request: Request) -> None:
        """Takes all rules away."""
        world = worlds.current
        names = world.rule_names
        world.rulebook.replace(())
        worlds.changes.note(request, "removed", names)

    @routes.get("/rules/{name:path}", response_model_exclude_defaults=True)
    async def get_rule(name: str) -> Rule:
        """One rule by its name; 404 when no rule has it."""
        return _find_rule(worlds.current, name)

    @routes.put(
        "/rules/{name:path}",
        response_model_exclude_defaults=True,
        openapi_extra=RULE.extra,
        responses={201: {"model": Rule, "description": "It was not there before"}},
    )
    async def put_rule(name: str, request: Request, response: Response) -> Rule:
        """Puts a rule in the place of the one of its name, or after all others. Its `ttl` and `times` begin anew."""
        rule = await RULE.read(request)
        if rule.name != name:
            raise Refusal(422, [Problem("name", f"{rule.name!r}, but the path says {name!r}", "give both the same")])
        world = worlds.current
        is_known = name in world.rule_names
        response.status_code = 200 if is_known else 201
        world.rulebook.put(rule)
        worlds.changes.note(request, "replaced" if is_known else "added", (name,))
        return rule

    @routes.patch("/rules/{name:path}", response_model_exclude_defaults=True, openapi_extra=SWITCH.extra)
    async def switch_rule(name: str, request: Request) -> Rule:
        """Switches a rule on or off; it keeps its counts, and its ttl goes on."""
        switch = await SWITCH.read(request)
        world = worlds.current
        _find_rule(world, name)
        world.rulebook.switch(name, on=switch.enabled)
        worlds.changes.note(request, "switched on" if switch.enabled else "switched off", (name,))
        return _find_rule(world, name)

    @routes.delete("/rules/{name:path}", status_code=204)
    async def delete_rule(name: str, request: Request) -> None:
        """Takes a rule away."""
        world = worlds.current
        _find_rule(world, name)
        world.rulebook.remove(name)
        worlds.changes.note(request, "removed", (name,))

    @routes.get("/status", response_model_exclude_defaults=True)
    async def get_status() -> tuple[RuleStatus, ...]:
        """The status of each rule: effective, switched off, expired or spent; what remains, and how often it fired."""
        return worlds.current.rulebook.statuses()

    return routes


def _find_rule(world: World, name: str) -> Rule:
    rule = next((rule for rule in world.rules if rule.name == name), None)
    if rule is None:
        raise no_rule(world, name)
    return rule


def no_rule(world: World, name: str) -> Refusal:
    """404 for a rule that is not there, with the nearest that is."""
    return Refusal(404, [Problem("name", f"no rule {name!r}", near_miss(name, world.rule_names))])
