"""`store_slow: {before: 5s}`: uploads take their time to reach the object store, and arrive whole."""

from typing import ClassVar

from devkit.faults.proxied_fault import StoreFault
from devkit.proxy.toxics.store_slow import StoreSlow
from devkit.proxy.toxics.toxic import Toxic


class StoreUploadsSlow(StoreSlow, StoreFault):
    """The time passes `before` the request goes on, or `through` its body."""

    name: ClassVar[str] = "store_slow"
    summary: ClassVar[str] = "uploads wait `before` they reach the object store, or take the time `through`"
    example: ClassVar[str] = "{before: 5s, prefix: logs/}"
    toxic: ClassVar[type[Toxic]] = StoreSlow
