"""`network_bandwidth: {part: kafka, rate: 64KiB}`: all connections to a part share a narrow link."""

from typing import ClassVar

from devkit.faults.proxied_fault import DirectedFault
from devkit.proxy.toxics.bandwidth import Bandwidth
from devkit.proxy.toxics.toxic import Toxic


class NetworkBandwidth(Bandwidth, DirectedFault):
    """Each direction has `rate` bytes a second for itself."""

    name: ClassVar[str] = "network_bandwidth"
    summary: ClassVar[str] = "all connections to a part together carry `rate` bytes a second in a direction"
    example: ClassVar[str] = "{part: kafka, rate: 64KiB}"
    toxic: ClassVar[type[Toxic]] = Bandwidth
