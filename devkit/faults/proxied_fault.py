"""The base of faults of network, object store and Kafka's protocol: each is a toxic of the proxy in front of a part.

The proxy's process holds the toxic and counts what it does, so a fault needs no more than the proxy's address to be
undone, and its proof is what the proxy counted.
"""

import contextlib
import secrets
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from devkit.errors import StackError
from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.proxy.client import ProxyControl, ProxyGoneError, UnknownToxicError
from devkit.proxy.direction import Sense
from devkit.proxy.proof import Counts
from devkit.proxy.toxics.toxic import Toxic
from devkit.stack.front import PROXY, REQUESTS_SUFFIX
from located_config.count import counted


class ProxiedFault(Fault):
    """Acts on what programs under test exchange with a part; the kit's own way to it is another.

    A subclass inherits from its toxic as well, whose parameters are the fault's.
    """

    toxic: ClassVar[type[Toxic]]
    listener_suffix: ClassVar[str] = ""

    part: str = Field(description="Part whose connections are meant; the kit's own are spared.")

    @property
    def sense(self) -> Sense:
        """Which way the bytes go that the toxic acts on."""
        return "both"

    @override
    def needs(self) -> tuple[Need, ...]:
        return (Need(self.part, proxied=True),)

    @override
    def begin(self, context: Context) -> Acting:
        if PROXY not in context.parts:
            raise StackError(
                f"no proxy stands in front of {self.part}", hint="bring the stack up with `devkit up --proxied`"
            )
        control = ProxyControl(context.parts[PROXY].address)
        listener = self.part + self.listener_suffix
        draws = context.name or self.name
        # Of its own, so that what undoes this fault does not end another that is the same.
        name = f"{draws} {secrets.token_hex(4)}"
        context.plan(Undo(data={"control": control.endpoint, "listener": listener, "toxic": name}))
        control.add(listener, name, self._as_toxic(context), direction=self.sense, seed=context.seed, draws=draws)
        return _Toxic(control, listener, name)

    def _as_toxic(self, context: Context) -> Toxic:  # noqa: ARG002 - for those that override it
        return self.toxic.model_validate({field: getattr(self, field) for field in self.toxic.model_fields})

    @classmethod
    @override
    def undo(cls, undo: Undo) -> None:
        with contextlib.suppress(UnknownToxicError, ProxyGoneError):  # it ended with the proxy
            ProxyControl(undo.data["control"]).remove(undo.data["listener"], undo.data["toxic"])


class DirectedFault(ProxiedFault):
    """Acts on what goes `to_server`, the part, or `to_client`, the program."""

    direction: Sense = Field(
        default="both", description="Which bytes are meant: those to the part, those to its clients, or both."
    )

    @property
    @override
    def sense(self) -> Sense:
        return self.direction


class StoreFault(ProxiedFault):
    """Acts on requests to the object store."""

    listener_suffix: ClassVar[str] = REQUESTS_SUFFIX

    part: Literal["object-store"] = Field(default="object-store", description="The only part that it can act on.")


@dataclass(frozen=True)
class _Toxic:
    control: ProxyControl
    listener: str
    name: str

    def end(self) -> Proof:
        counts = self.control.remove(self.listener, self.name).counts
        self.control.disconnect()
        return Proof(acted=counts.first_at is not None, did=_words(counts))


def _words(counts: Counts) -> str:
    if counts.first_at is None or counts.last_at is None:
        return "nothing that it acts on came by the proxy"
    figures = {
        counted(counts.connections, "connection"): counts.connections,
        counted(counts.requests, "request"): counts.requests,
        f"{counted(counts.bytes_delayed, 'byte')} delayed": counts.bytes_delayed,
        f"{counted(counts.bytes_dropped, 'byte')} dropped": counts.bytes_dropped,
    }
    return ", ".join(
        [
            *(text for text, count in figures.items() if count),
            f"first at {counts.first_at:%H:%M:%S.%f}"[:-3],
            f"last at {counts.last_at:%H:%M:%S.%f}"[:-3],
        ]
    )
