"""`store_error: {status: 503}`: the object store answers requests with an error and does not see them."""

from typing import ClassVar

from devkit.faults.proxied_fault import StoreFault
from devkit.proxy.toxics.store_error import StoreError
from devkit.proxy.toxics.toxic import Toxic


class StoreAnswersError(StoreError, StoreFault):
    """503 SlowDown, 500 InternalError or 403 AccessDenied; of the requests that are named, a share."""

    name: ClassVar[str] = "store_error"
    summary: ClassVar[str] = "the object store answers 503 SlowDown, 500 or 403, by method, bucket, prefix and share"
    example: ClassVar[str] = "{status: 503, methods: [PUT], prefix: logs/, share: 30%}"
    toxic: ClassVar[type[Toxic]] = StoreError
