"""Which route answers a request: the first one that takes it; the REST API takes the rest."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mockapi.api.action.endpoint import ActionApi
from mockapi.api.delete_form import DeleteForm
from mockapi.api.endpoint import Endpoint, Match
from mockapi.api.entity_data import EntityData
from mockapi.api.gateway import Gateway
from mockapi.api.rest.path import REST_ROOT
from mockapi.api.rest.routes import find as find_rest
from mockapi.api.restbase import Restbase
from mockapi.api.run_jobs import RunJobs
from mockapi.server.request import Request

if TYPE_CHECKING:
    from mockapi.world import World

ROUTES: Final[Sequence[Match]] = (
    ActionApi.match,
    EntityData.match,
    DeleteForm.match,
    RunJobs.match,
    Restbase.match,
    Gateway.match,
)


def find(request: Request, world: "World") -> Endpoint:
    """Never None: what no route takes goes to the REST API, which answers 404."""
    if not request.raw_path.startswith(REST_ROOT):
        for match in ROUTES:
            endpoint = match(request, world)
            if endpoint is not None:
                return endpoint
    return find_rest(request, world)
