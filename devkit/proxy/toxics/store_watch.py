"""Store watch: changes no request. It counts the requests that match, and holds each until the watch ends.

So the holder of a watch can act at exactly that point: the request goes on when the watch ends, or after `hold`, and
then it counts as missed.
"""

import asyncio
from datetime import timedelta
from typing import ClassVar

from devkit.proxy.proof import ProxyProof
from devkit.proxy.s3.request import RequestPattern, StoreRequest
from devkit.proxy.toxics.toxic import Layer, Toxic
from located_config.duration import Duration


class StoreWatch(RequestPattern, Toxic):
    """Requests wait until the watch ends, at most for `hold`."""

    key: ClassVar[str] = "store_watch"
    layer: ClassVar[Layer] = "s3"

    hold: Duration = timedelta(seconds=60)


class ActiveWatch:
    """A watch that is there now."""

    def __init__(self, watch: StoreWatch, proof: ProxyProof) -> None:
        self._watch, self._proof = watch, proof
        self._ended = asyncio.Event()

    async def hold(self, request: StoreRequest) -> None:
        """Returns when the request may go on."""
        if self._watch.matches(request) and not self._ended.is_set():
            self._proof.answered(request.connection)
            try:
                await asyncio.wait_for(self._ended.wait(), self._watch.hold.total_seconds())
            except TimeoutError:
                self._proof.missed()

    def end(self) -> None:
        """Let the waiting requests go on."""
        self._ended.set()
