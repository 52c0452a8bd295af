"""`network_latency: {part: kafka, time: 200ms}`: what goes to or from a part arrives later."""

from typing import ClassVar

from devkit.faults.proxied_fault import DirectedFault
from devkit.proxy.toxics.latency import LatencyToxic
from devkit.proxy.toxics.toxic import Toxic


class NetworkLatency(LatencyToxic, DirectedFault):
    """With both directions a round trip takes twice the time longer."""

    name: ClassVar[str] = "network_latency"
    summary: ClassVar[str] = "what goes to or from a part takes `time` longer, and up to `jitter` more, in order"
    example: ClassVar[str] = "{part: kafka, time: 200ms, jitter: 50ms}"
    toxic: ClassVar[type[Toxic]] = LatencyToxic
