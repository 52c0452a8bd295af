"""`network_blackhole: {part: kafka}`: connections to a part stay open and nothing goes through."""

from typing import ClassVar

from devkit.faults.proxied_fault import DirectedFault
from devkit.proxy.toxics.blackhole import Blackhole
from devkit.proxy.toxics.toxic import Toxic


class NetworkBlackhole(Blackhole, DirectedFault):
    """As when a firewall drops packets: at the end what was held goes on, so nothing is lost."""

    name: ClassVar[str] = "network_blackhole"
    summary: ClassVar[str] = "connections to a part stay open and nothing goes through until it ends"
    example: ClassVar[str] = "{part: kafka, direction: to_client}"
    toxic: ClassVar[type[Toxic]] = Blackhole
