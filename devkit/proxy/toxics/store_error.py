"""Store error: requests are answered with an error in S3's words, and do not reach the store.

The body of the request is read and thrown away, unless the client waits for 100 Continue. Which statuses there are:
503 SlowDown (a store that throttles), 403 AccessDenied (a policy that changed), 500 InternalError.
"""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final, Literal

from pydantic import Field
from typing_extensions import override

from devkit.proxy.proof import ProxyProof
from devkit.proxy.toxics.store import Answer, StoreToxic

_ERRORS: Final[Mapping[int, tuple[str, str]]] = MappingProxyType(
    {
        403: ("AccessDenied", "Access Denied"),
        500: ("InternalError", "We encountered an internal error. Please try again."),
        503: ("SlowDown", "Please reduce your request rate."),
    }
)


class StoreError(StoreToxic):
    """Requests are answered with 503 SlowDown, or another `status`, in place of the store."""

    key: ClassVar[str] = "store_error"

    status: Literal[403, 500, 503] = Field(default=503, description="HTTP status of the answer.")

    @override
    def action(self, proof: ProxyProof, ended: asyncio.Event) -> Answer:
        code, message = _ERRORS[self.status]
        return Answer(self.status, code, message, proof)
