"""What no route answers below `rest.php`, and the way from its root to where it begins."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from mockapi.api import status as statuses
from mockapi.api.endpoint import Context
from mockapi.api.rest.envelope import coding_of
from mockapi.api.rest.errors import RestError, error_reply, no_match
from mockapi.api.rest.path import REST_ROOT, below_module, relative
from mockapi.api.rest.redirects import redirect_reply
from mockapi.plan import StatusAnswer
from mockapi.rules.matching import Target
from mockapi.server.reply import Reply
from mockapi.server.request import Request

if TYPE_CHECKING:
    from mockapi.world import World

_START: Final = f"{REST_ROOT}/"


@dataclass(frozen=True, slots=True)
class NoMatch:
    """A request for a path without a route, or to a host without a wiki: `error` is what that gets."""

    targets: tuple[Target, ...]
    key: str
    error: RestError | None = None
    renders: bool = False

    @classmethod
    def of(cls, request: Request, world: "World") -> Self:
        """Rules may match it by its host's wiki and by its path."""
        wiki = world.wikis.wiki_of_host(request.host)
        return cls((Target(wiki=wiki.name if wiki else None),), request.path)

    def status_reply(self, status: StatusAnswer, request_id: str) -> Reply:
        """Without words of a resource: there is none."""
        return statuses.reply(status, request_id)

    async def reply(self, context: Context) -> Reply:
        """404; 308 for the root without its slash."""
        request, coding = context.request, coding_of(context)
        if self.error is not None:
            return error_reply(self.error, request, context.request_id, coding=coding)
        below = relative(request.raw_path)
        if below == "":
            return redirect_reply(308, _START, (), context)
        path = request.raw_path if below is None else below_module(below)
        return error_reply(no_match(path), request, context.request_id, coding=coding)
