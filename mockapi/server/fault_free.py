"""The answers that requests get without faults. By them the kit checks what a job made of what it fetched.

Of the rules only those apply that replace a document.
"""

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from mockapi.api.endpoint import Context, Endpoint
from mockapi.api.rest.path import revision_path
from mockapi.api.routes import find
from mockapi.plan import NOTHING, OtherBody, Plan
from mockapi.rules.book import plan_for
from mockapi.rules.matching import Subject, Target
from mockapi.server.reply import Body, Reply
from mockapi.server.request import Request
from mockapi.wiki.catalog import Located

if TYPE_CHECKING:
    from mockapi.world import World


async def get_fault_free(world: "World", domain: str, path: str) -> Reply:
    """The reply of the wiki at `domain` to a GET of `path`, a query with it; its body has no content coding."""
    endpoint, subject = _route(world, domain, path)

    def plan_of(target: Target) -> Plan:
        key = subject.key if target.revision is None else str(target.revision)
        return _document_plan(world, replace(subject, targets=(target,), key=key))

    return await endpoint.reply(Context(world, subject.request, "fault-free", _document_plan(world, subject), plan_of))


async def get_html(world: "World", located: Located) -> Body:
    """The HTML of a revision, not encoded; also of one that the wiki does not show."""
    _, subject = _route(world, located.page.domain, revision_path("v1", located.revision.rev_id, "html"))
    return await world.pages.plain(located, _document_plan(world, subject).document)


def _route(world: "World", domain: str, path: str) -> tuple[Endpoint, Subject]:
    raw_path, _, query = path.partition("?")
    request = Request("GET", unquote(raw_path), raw_path, query, {"host": domain}, "")
    endpoint = find(request, world)
    at_s = world.clock.elapsed() or 0.0
    wiki = world.separate_wiki(endpoint.targets[0])
    return endpoint, Subject(request, endpoint.targets, endpoint.key, 1, at_s, wiki)


def _document_plan(world: "World", subject: Subject) -> Plan:
    plan = plan_for(world.rulebook.peek(subject), seed=world.seed, key=subject.draw_key, attempt=1)
    return NOTHING if plan.document is None else Plan(body=OtherBody(plan.document))
