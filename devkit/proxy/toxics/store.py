"""The base of toxics of an object store: which requests they match, and the plan for each.

Whether a request is among the `share` is a function of (seed, toxic, method, key, attempt), and an attempt is counted
for each method and key from when the toxic began.
"""

import asyncio
from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar

from pydantic import Field

from devkit.proxy.proof import ProxyProof
from devkit.proxy.s3.request import RequestPattern, StoreRequest
from devkit.proxy.toxics.toxic import Layer, Toxic, ToxicContext, uniform
from located_config.share import Share


@dataclass(frozen=True)
class Answer:
    """Answer with an error instead of passing the request on."""

    status: int
    code: str
    message: str
    proof: ProxyProof


@dataclass(frozen=True)
class Slowness:
    """Wait before the request goes on, and spread its body over a time. `ended` is set when the toxic is over."""

    before_s: float
    through_s: float
    ended: asyncio.Event
    proof: ProxyProof


@dataclass(frozen=True)
class Plan:
    """The plan for a request; a later toxic replaces the action of an earlier one of its kind."""

    answer: Answer | None = None
    slowness: Slowness | None = None

    def with_action(self, action: Answer | Slowness) -> "Plan":
        """In place of an action of the same kind, beside those of other kinds."""
        match action:
            case Answer():
                return replace(self, answer=action)
            case Slowness():
                return replace(self, slowness=action)


class StoreToxic(RequestPattern, Toxic):
    """A toxic for listeners of layer `s3`. A subclass gives `methods` its default."""

    layer: ClassVar[Layer] = "s3"

    share: Share = Field(default=1.0, description="Share of the matching requests that it acts on.")

    @abstractmethod
    def action(self, proof: ProxyProof, ended: asyncio.Event) -> Answer | Slowness:
        """The action for each request that the toxic matches."""


class StoreEffect:
    """A toxic that acts on requests now."""

    def __init__(self, toxic: StoreToxic, context: ToxicContext) -> None:
        self._toxic, self._context = toxic, context
        self._attempts: Counter[tuple[str, str, str]] = Counter()
        self._ended = asyncio.Event()
        self._action = toxic.action(context.proof, self._ended)

    def apply(self, plan: Plan, request: StoreRequest) -> Plan:
        """A matching request counts as an attempt also when it is not drawn; its plan is unchanged then."""
        return plan.with_action(self._action) if self._concerns(request) else plan

    def end(self) -> None:
        """Let the requests go on that wait for the toxic."""
        self._ended.set()

    def _concerns(self, request: StoreRequest) -> bool:
        if not self._toxic.matches(request):
            return False
        identity = (request.method, request.bucket, request.key)
        self._attempts[identity] += 1
        context = self._context
        return uniform(context.seed, context.name, *identity, self._attempts[identity]) < self._toxic.share
