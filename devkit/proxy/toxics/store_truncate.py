"""Store truncate: of an answer's body only the share `after` arrives, then the connection ends with FIN.

Status and headers are the store's, Content-Length too, so the client knows how much it should have got. Errors, and
answers that have no Content-Length, pass.
"""

import asyncio
from typing import Annotated, ClassVar

from pydantic import Field
from typing_extensions import override

from devkit.proxy.proof import ProxyProof
from devkit.proxy.s3.request import Method
from devkit.proxy.toxics.store import StoreToxic, Truncation
from located_config.share import Share


class StoreTruncate(StoreToxic):
    """Downloads end after a share of their body, `{after: 50%}`, with the right Content-Length."""

    key: ClassVar[str] = "store_truncate"

    methods: tuple[Method, ...] = Field(
        default=("GET",), description="HTTP methods of the requests that are meant; an empty list means all."
    )
    after: Annotated[Share, Field(lt=1)] = Field(
        default=0.5, description="Share of the body that is sent before the connection ends."
    )

    @override
    def action(self, proof: ProxyProof, ended: asyncio.Event) -> Truncation:
        return Truncation(self.after, proof)
