"""`network_half_open: {part: kafka, direction: to_server}`: one side of a connection is gone, the other not told."""

from typing import ClassVar

from devkit.faults.proxied_fault import DirectedFault
from devkit.proxy.toxics.half_open import HalfOpen
from devkit.proxy.toxics.toxic import Toxic


class NetworkHalfOpen(HalfOpen, DirectedFault):
    """The receiver of `direction` is gone; `both` tells neither. At the end the other side gets RST."""

    name: ClassVar[str] = "network_half_open"
    summary: ClassVar[str] = "one side of open connections is gone and the other not told; new connections work"
    example: ClassVar[str] = "{part: kafka, direction: to_server}"
    toxic: ClassVar[type[Toxic]] = HalfOpen
