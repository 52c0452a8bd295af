"""Store truncate: of an answer's body only the share `after` arrives, then the connection ends with FIN.

Status and headers are the store's, Content-Length too, so the client knows how much it should have got. Errors, and
answers that have no Content-Length, pass.
"""

import asyncio
from typing import Annotated, ClassVar

from pydantic import Field

from devkit.proxy.proof import ProxyProof
from devkit.proxy.s3.request import Method
from devkit.proxy.toxics.store import StoreToxic, Truncation
from located_config.share import Share


class StoreTruncate(StoreToxic):
    """Downloads end after a share of their body, `{after: 50%}`, with the right Content-Length."""

    key: ClassVar[str] = "store_truncate"

    methods: tuple[Method, ...] = ("GET",)
    after: Annotated[Share, Field(lt=1)] = 0.5

    def action(self, proof: ProxyProof, ended: asyncio.Event) -> Truncation:  # noqa: ARG002 - it holds nothing
        return Truncation(self.after, proof)
