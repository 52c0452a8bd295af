"""Store slow: a request goes on after `before`, and its body is spread evenly over `through`.

The store gets all of it, unchanged and late, so a client that is patient succeeds. For uploads, unless `methods` says
otherwise. A request without a body only waits `before`; a body of unknown length waits `through` and then goes at once.
"""

import asyncio
from datetime import timedelta
from typing import ClassVar, Self

from pydantic import Field, model_validator
from typing_extensions import override

from devkit.proxy.proof import ProxyProof
from devkit.proxy.s3.request import Method
from devkit.proxy.toxics.store import Slowness, StoreToxic
from located_config.duration import Duration


class StoreSlow(StoreToxic):
    """Uploads wait `before` they go to the store, and their body takes the time `through`."""

    key: ClassVar[str] = "store_slow"

    methods: tuple[Method, ...] = Field(
        default=("PUT",), description="HTTP methods of the requests that are meant; an empty list means all."
    )
    before: Duration = Field(default=timedelta(0), description="Time that a request waits before it reaches the store.")
    through: Duration = Field(default=timedelta(0), description="Time over which the body of a request is spread.")

    @model_validator(mode="after")
    def _is_slow(self) -> Self:
        if not self.before and not self.through:
            raise ValueError("give before or through: {before: 5s}")
        return self

    @override
    def action(self, proof: ProxyProof, ended: asyncio.Event) -> Slowness:
        return Slowness(self.before.total_seconds(), self.through.total_seconds(), ended, proof)
