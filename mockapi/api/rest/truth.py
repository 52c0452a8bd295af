"""What the mock knows: the document of a revision as a client should have got it."""

from typing import TYPE_CHECKING

from mockapi.api.rest.path import revision_path
from mockapi.api.rest.revision import RevisionRoute
from mockapi.rules.matching import Subject
from mockapi.rules.planning import plan_for
from mockapi.server.reply import Body
from mockapi.server.request import Request
from mockapi.wiki.located import Located

if TYPE_CHECKING:
    from mockapi.world import World


async def truth(world: "World", located: Located) -> Body:
    """The body, not encoded, that a GET under `/v1` gets of this revision when it gets the page; windows are as now."""
    path = revision_path("v1", located.revision.rev_id, "html")
    request = Request("GET", path, path, "", {"host": located.page.domain}, "")
    endpoint = RevisionRoute.match(request, world)
    if endpoint is None:
        raise AssertionError(path)
    at_s = world.clock.elapsed() or 0.0
    subject = Subject(request, endpoint.targets, endpoint.key, 1, at_s, world.separate_wiki(endpoint.targets[0]))
    plan = plan_for(world.rulebook.peek(subject), seed=world.seed, key=subject.draw_key, attempt=1)
    return await world.pages.plain(located, plan.document)
