"""The kit's end of the proxy's control interface."""

from collections.abc import Mapping
from datetime import timedelta
from typing import TypeVar
from urllib.parse import quote

import requests
from pydantic import BaseModel, TypeAdapter, ValidationError

from devkit.errors import StackError
from devkit.loopback import loopback_session
from devkit.network_cause import network_cause
from devkit.proxy.direction import Sense
from devkit.proxy.model import ListenerState, NewListener, NewToxic, Refusal, ToxicState
from devkit.proxy.toxics.toxic import Layer, Toxic

_TIMEOUT_S = 30.0
M = TypeVar("M", bound=BaseModel)


class ProxySilentError(StackError):
    """The proxy did not answer at all."""


class ProxyGoneError(ProxySilentError):
    """There is no listener any more where the proxy was."""


class ProxyRefusedError(StackError):
    """The proxy answered that it cannot do what was asked."""


class UnknownToxicError(ProxyRefusedError):
    """There is no such listener, or none of its toxics ever had that name."""


class ProxyControl:
    """Drives the proxy whose control interface is at `endpoint`, `http://127.0.0.1:…`. Errors are StackErrors."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self._session = loopback_session()

    def listeners(self) -> list[ListenerState]:
        """In the order in which they were added."""
        return TypeAdapter(list[ListenerState]).validate_json(self._call("GET", "/listeners"))

    def listen(self, name: str, upstream: str, *, layer: Layer = "tcp", port: int | None = None) -> ListenerState:
        """Have the proxy accept connections for `upstream` (`127.0.0.1:9092`), which need not be there yet."""
        new = NewListener(name=name, upstream=upstream, layer=layer, port=port or 0)
        return ListenerState.model_validate_json(self._call("POST", "/listeners", new))

    def close(self, name: str) -> None:
        """Stop to listen, and end the connections."""
        self._call("DELETE", f"/listeners/{quote(name, safe='')}")

    def add(
        self,
        listener: str,
        name: str,
        toxic: Toxic,
        *,
        direction: Sense = "both",
        ttl: timedelta | None = None,
        seed: int = 0,
        draws: str | None = None,
    ) -> ToxicState:
        """Begin a toxic; it acts when this returns."""
        new = NewToxic(name=name, do=toxic, direction=direction, ttl=ttl, seed=seed, draws=draws)
        return ToxicState.model_validate_json(self._call("POST", f"{_toxics(listener)}", new))

    def remove(self, listener: str, name: str) -> ToxicState:
        """End a toxic and return its counts; only the counts of one that has ended already."""
        return ToxicState.model_validate_json(self._call("DELETE", f"{_toxics(listener)}/{quote(name, safe='')}"))

    def toxics(self, listener: str) -> list[ToxicState]:
        """All toxics of a listener, in the order of their ends, those that still act last."""
        return TypeAdapter(list[ToxicState]).validate_json(self._call("GET", _toxics(listener)))

    def toxic(self, listener: str, name: str) -> ToxicState:
        """The newest toxic of that name."""
        for state in reversed(self.toxics(listener)):
            if state.name == name:
                return state
        raise UnknownToxicError(f"the proxy has no toxic {name!r} on {listener!r}")

    def disconnect(self) -> None:
        """Close the connections to the control interface."""
        self._session.close()

    def _call(self, method: str, path: str, body: BaseModel | None = None) -> bytes:
        headers: Mapping[str, str] = {"Content-Type": "application/json"} if body is not None else {}
        data = body.model_dump_json() if body is not None else None
        try:
            answer = self._session.request(
                method, self.endpoint + path, data=data, headers=dict(headers), timeout=_TIMEOUT_S
            )
        except requests.RequestException as error:
            silence = ProxyGoneError if _is_refused(error) else ProxySilentError
            raise silence(f"the proxy did not answer {method} {path}: {network_cause(error)}") from error
        if answer.ok:
            return answer.content
        try:
            refusal = Refusal.model_validate_json(answer.content)
        except ValidationError:
            raise StackError(
                f"the proxy answered {answer.status_code} to {method} {path}: {answer.text[:500]}"
            ) from None
        kind = UnknownToxicError if refusal.kind == "unknown" else ProxyRefusedError
        raise kind(f"the proxy refused {method} {path}: {refusal.error}")


def _is_refused(error: BaseException | None) -> bool:
    """Whether there was no server to connect to: only the last cause shows that."""
    while error is not None and not isinstance(error, ConnectionRefusedError):
        error = error.__cause__ or error.__context__
    return error is not None


def _toxics(listener: str) -> str:
    return f"/listeners/{quote(listener, safe='')}/toxics"
