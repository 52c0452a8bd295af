"""`network_reset: {part: kafka}`: connections to a part end with RST, new ones too."""

from typing import ClassVar

from devkit.faults.proxied_fault import ProxiedFault
from devkit.proxy.toxics.reset import Reset
from devkit.proxy.toxics.toxic import Toxic


class NetworkReset(Reset, ProxiedFault):
    """What was under way is lost, as when a middlebox forgets its connections and says so."""

    name: ClassVar[str] = "network_reset"
    summary: ClassVar[str] = "connections to a part end with RST, new ones at once"
    example: ClassVar[str] = "{part: kafka}"
    toxic: ClassVar[type[Toxic]] = Reset
