"""Which route of the REST API answers a request: the first one that takes it; the last one takes all."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mockapi.api.endpoint import Endpoint, Match
from mockapi.api.rest.no_match import NoMatch
from mockapi.api.rest.page import PageRoute
from mockapi.api.rest.revision import RevisionRoute
from mockapi.api.rest.write import CreateRoute
from mockapi.server.request import Request

if TYPE_CHECKING:
    from mockapi.world import World

_ROUTES: Final[Sequence[Match]] = (RevisionRoute.match, PageRoute.match, CreateRoute.match)


def find(request: Request, world: "World") -> Endpoint:
    """Never None: a path without a route is a NoMatch, which answers 404."""
    for match in _ROUTES:
        endpoint = match(request, world)
        if endpoint is not None:
            return endpoint
    return NoMatch.of(request, world)
