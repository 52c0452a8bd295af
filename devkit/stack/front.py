"""The kit's proxy in front of parts of a stack: it can disturb the network, and the answers of store and broker.

    programs under test ──▶ listener `kafka` (tcp) ──▶ listener `kafka.protocol` ──▶ the broker itself ◀── the kit
    before an object store: listener `object-store` (tcp) ──▶ listener `object-store.s3` (requests) ──▶ the store

It is a part of the stack too, so that its end is named.
"""

import sys
from collections.abc import Set
from pathlib import Path

from devkit.guardian import Guardian
from devkit.proxy.client import ProxyControl
from devkit.proxy.toxics.toxic import Layer
from devkit.stack.parts.part import Lever
from devkit.stack.parts.part_life import READY, Life, require_running
from devkit.stack.parts.process import ProcessPart
from devkit.stack.ports import LOOPBACK, claim_port
from devkit.waiting import wait_until

PROXY = "proxy"
REQUESTS_SUFFIX = ".s3"
"""Behind a part's name: its listener that knows S3 requests; the one that is called as the part knows bytes."""
PROTOCOL_SUFFIX = ".protocol"
"""The same behind a broker's: its listener that knows Kafka's protocol."""

_KAFKA = "kafka"
_FORGETS = "it would forget whom it leads where; cut or pause the part behind it instead"
_REFUSED: dict[Lever, str] = {"kill": _FORGETS, "restart": _FORGETS}


class Front:
    """A proxy process that leads clients to the parts with these names. Raises StackError when it does not begin."""

    def __init__(self, guardian: Guardian, logs: Path, names: Set[str]) -> None:
        self._names = names
        port = claim_port(None, "the proxy")
        self.control = ProxyControl(f"http://{LOOPBACK}:{port}")
        self.part = ProcessPart(
            guardian,
            PROXY,
            [sys.executable, "-m", "devkit.proxy", "--control-port", str(port)],
            address=self.control.endpoint,
            ready=self._await_control,
            logs=logs,
            split=True,
            refused=_REFUSED,
        )
        self.part.await_ready()

    def leads_to(self, part: str) -> bool:
        """Whether it stands before this part; `kafka` means every broker."""
        return part in self._names or part.partition("-")[0] in self._names

    def lead(self, part: str, address: str) -> str:
        """Where clients find the part that is at `address`, `host:port`: here, if it leads to this part.

        Asked again for a part it leads to the new address.
        """
        if not self.leads_to(part):
            return address
        if part.partition("-")[0] == _KAFKA:
            return self._lead_by_way_of(part, PROTOCOL_SUFFIX, "kafka", address)
        self._forget(part)
        return self.control.listen(part, address).address

    def lead_requests(self, part: str, address: str) -> str:
        """The same before an object store, of which it knows the requests as well."""
        if not self.leads_to(part):
            return address
        return self._lead_by_way_of(part, REQUESTS_SUFFIX, "s3", address)

    def _lead_by_way_of(self, part: str, suffix: str, layer: Layer, address: str) -> str:
        self._forget(part)
        self._forget(part + suffix)
        knowing = self.control.listen(part + suffix, address, layer=layer)
        return self.control.listen(part, knowing.address).address

    def _forget(self, listener: str) -> None:
        if any(open_listener.name == listener for open_listener in self.control.listeners()):
            self.control.close(listener)

    def _await_control(self, life: Life) -> None:
        def is_ready() -> bool:
            require_running(life)
            return f"proxy controlled at {self.control.endpoint}\n" in life.stdout.read_text()

        wait_until(is_ready, what="the proxy to say that it is ready", deadline=READY, hint=f"its log is {life.stderr}")
