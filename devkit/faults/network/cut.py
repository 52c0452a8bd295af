"""`network_cut: {part: kafka}`: a part's address refuses connections, and those that are open are closed."""

from typing import ClassVar

from devkit.faults.proxied_fault import ProxiedFault
from devkit.proxy.toxics.cut import Cut
from devkit.proxy.toxics.toxic import Toxic


class NetworkCut(Cut, ProxiedFault):
    """Programs see what they would of a part that was stopped; the part itself runs on."""

    name: ClassVar[str] = "network_cut"
    summary: ClassVar[str] = "a part refuses connections, and those that are open are closed"
    example: ClassVar[str] = "{part: kafka}"
    toxic: ClassVar[type[Toxic]] = Cut
