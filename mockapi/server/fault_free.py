"""A GET of any route as it is answered when no fault meets it: what a job fetched, for who checks what it made of that.

Of the rules only those count that say what a document is.
"""

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from mockapi.api.endpoint import Context
from mockapi.api.routes import find
from mockapi.plan import NOTHING, OtherBody, Plan
from mockapi.rules.matching import Subject
from mockapi.rules.planning import plan_for
from mockapi.rules.target import Target
from mockapi.server.reply import Reply
from mockapi.server.request import Request

if TYPE_CHECKING:
    from mockapi.world import World


async def undisturbed(world: "World", domain: str, path: str) -> Reply:
    """The reply of the wiki at `domain` to `path`, a query with it; its body has no content coding."""
    raw_path, _, query = path.partition("?")
    request = Request("GET", unquote(raw_path), raw_path, query, {"host": domain}, "")
    endpoint = find(request, world)
    at_s = world.clock.elapsed() or 0.0
    subject = Subject(request, endpoint.targets, endpoint.key, 1, at_s, world.separate_wiki(endpoint.targets[0]))

    def plan_of(target: Target) -> Plan:
        key = subject.key if target.revision is None else str(target.revision)
        return _documents_alone(world, replace(subject, targets=(target,), key=key))

    context = Context(world, request, "undisturbed", _documents_alone(world, subject), plan_of)
    return await endpoint.reply(context)


def _documents_alone(world: "World", subject: Subject) -> Plan:
    plan = plan_for(world.rulebook.peek(subject), seed=world.seed, key=subject.draw_key, attempt=1)
    return NOTHING if plan.document is None else Plan(body=OtherBody(plan.document))
