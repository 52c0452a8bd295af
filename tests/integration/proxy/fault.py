"""A fault on a real part behind the proxy, begun and ended as the timeline of a scenario does it."""

from devkit.faults.do import parse_do
from devkit.faults.fault import Acting, Context
from devkit.faults.proxied_fault import ProxiedFault
from devkit.proxy.proof import Counts
from devkit.stack.front import PROXY, Front


class PlayedFault:
    """One at a time; `do` is as in a scenario: `{"network_cut": {"part": "kafka"}}`."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._acting: Acting | None = None
        self._listener = ""

    def begin(self, do: dict[str, object]) -> None:
        fault = parse_do(do)
        assert isinstance(fault, ProxiedFault)
        self._listener = fault.part + fault.listener_suffix
        self._acting = fault.begin(Context({PROXY: self._front.part}, "", lambda _plan: None, seed=1))

    @property
    def counts(self) -> Counts:
        return self._front.control.toxics(self._listener)[-1].counts

    def end(self) -> Counts:
        """What the proxy counted, of which the fault's proof is made."""
        assert self._acting is not None
        proof = self._acting.end()
        assert proof.acted, proof.did
        assert "first at" in proof.did
        return self.counts
