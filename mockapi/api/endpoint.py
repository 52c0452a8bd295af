"""What the routes of the wiki have in common: a route recognises a request, an endpoint answers it.

match(request, world) ──> Endpoint(targets, key, renders) ── rules make the plan ──> reply(context) ──> Reply
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mockapi.plan import Plan, StatusAnswer
from mockapi.rules.matching import Target
from mockapi.server.reply import Reply
from mockapi.server.request import Request

if TYPE_CHECKING:
    from mockapi.world import World


@dataclass(frozen=True, slots=True)
class Context:
    """All that an endpoint needs to answer. `plan_of` gives the plan of the rules that match this request if it were
    about that target alone; so one answer about many revisions can treat each as its rules say.
    """

    world: "World"
    request: Request
    request_id: str
    plan: Plan
    plan_of: Callable[[Target], Plan]


class Endpoint(Protocol):
    """What one request asks for."""

    @property
    def targets(self) -> tuple[Target, ...]:
        """What rules and journal see of it; at least one."""

    @property
    def key(self) -> str:
        """What is asked, free of all that differs between two requests for the same; draws depend on it."""

    @property
    def renders(self) -> bool:
        """Whether the answer, if no fault is in its place, takes a parse of the wiki."""

    def status_reply(self, status: StatusAnswer, request_id: str) -> Reply:
        """A status fault in the words of this part of the API."""

    async def reply(self, context: Context) -> Reply:
        """The answer. Raises nothing that the client causes."""


Match = Callable[[Request, "World"], Endpoint | None]
"""Returns None for a request that is not this route's."""
