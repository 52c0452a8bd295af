"""`store_truncate: {after: 50%}`: downloads from the object store end early."""

from typing import ClassVar

from devkit.faults.proxied import StoreFault
from devkit.proxy.toxics.store_truncate import StoreTruncate
from devkit.proxy.toxics.toxic import Toxic


class StoreDownloadsTruncated(StoreTruncate, StoreFault):
    """Content-Length is right, the body ends after that share of it, and the connection with it."""

    name: ClassVar[str] = "store_truncate"
    summary: ClassVar[str] = "downloads from the object store end after a share of their body"
    example: ClassVar[str] = "{after: 50%, prefix: checkpoints/}"
    toxic: ClassVar[type[Toxic]] = StoreTruncate
