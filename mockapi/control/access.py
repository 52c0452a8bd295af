"""Who may control the mock, and the guard that refuses all others: strangers and the pages of other sites.

    place (loopback, networks that were named) ── Host and Origin ── token ──> allowed

A browser runs what any site gives it, on the machine the mock runs on. Such a page is told apart by its Origin, or,
when its own name was made to lead here (DNS rebinding), by the name in Host: an address, `localhost`, a name without a
dot, as containers have, and the wikis' own hosts are no stranger's. Who shows the token needs no such name.
"""

import hmac
import ipaddress
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mockapi.control.refusal import Problem
from mockapi.server.request import read_head

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Denial:
    """The status of a refusal, 401 or 403, and its reason."""

    status: int
    problem: Problem


@dataclass(frozen=True, slots=True)
class Access:
    """Without a `token`: loopback and `networks`. With one: everybody who shows it, from anywhere; loopback needs it
    too, and `networks`, if there are any, narrow it to loopback and them.
    """

    networks: tuple[Network, ...] = ()
    token: str | None = None

    def denial(
        self, client: str, headers: Mapping[str, str], *, ours: Callable[[str], bool], open_page: bool
    ) -> Denial | None:
        """Why a request may not control, None if it may. `client` is the peer's address, empty for none; `headers` have
        lower-case names; `ours` is whether a host name is a wiki's. An `open_page` is the same for all and shows
        nothing of the state, so it takes no token: a browser cannot send one for a page.
        """
        return (
            self._place(client)
            or _origin(headers)
            or (None if self._shown(headers) else _host(headers.get("host", ""), ours))
            or (None if open_page else self._token(headers))
        )

    def _place(self, client: str) -> Denial | None:
        anywhere = self.token is not None and not self.networks
        if anywhere or may_control(client, self.networks):
            return None
        places = " and ".join(["on loopback", *(f"in {network}" for network in self.networks)])
        return _forbidden(
            client,
            f"the control answers {places} only",
            "call it from the machine the mock runs on, or start it with --allow-control and your network",
        )

    def _shown(self, headers: Mapping[str, str]) -> bool:
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        return (
            self.token is not None
            and scheme.lower() == "bearer"
            and hmac.compare_digest(shown.strip().encode(), self.token.encode())
        )

    def _token(self, headers: Mapping[str, str]) -> Denial | None:
        if self.token is None or self._shown(headers):
            return None
        problem = "a wrong token" if "authorization" in headers else "no token"
        hint = "send `Authorization: Bearer …` with the token that the mock was started with"
        return Denial(401, Problem("authorization", problem, hint))


LOOPBACK = Access()
"""This machine, without a token."""


def may_control(host: str, networks: tuple[Network, ...] = ()) -> bool:
    """Whether an address, IPv4, IPv6 or IPv4 inside IPv6, is the machine's own or in one of `networks`.

    False for what is no address.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    inner = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    peer = inner or address
    return peer.is_loopback or any(peer in network for network in networks)


def _origin(headers: Mapping[str, str]) -> Denial | None:
    """A browser says where the page came from that asks; ours comes from here."""
    origin = headers.get("origin")
    if origin is None or origin.partition("://")[2].lower() == headers.get("host", "").lower():
        return None
    return _forbidden("origin", f"a page of {origin} may not control the mock", "open the mock's own page at /__mock/")


def _host(host: str, ours: Callable[[str], bool]) -> Denial | None:
    name = host_name(host)
    if "." not in name or name.endswith(".localhost") or _is_address(name) or ours(name):
        return None
    return _forbidden(
        "host",
        f"{name!r} could be any site's name for this machine",
        "call the control by address or as localhost, or start the mock with --control-token-file",
    )


def host_name(host: str) -> str:
    """A Host header without its port, in lower case and without the brackets of IPv6."""
    name = host.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.rsplit(":", 1)[0] if name.count(":") == 1 else name


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _forbidden(path: str, problem: str, hint: str) -> Denial:
    return Denial(403, Problem(path, problem, hint))


class Guard:
    """Refuses with 401 or 403. `open_pages` are the paths of what is the same for all."""

    def __init__(
        self, app: ASGIApp, access: Access, *, open_pages: Collection[str], ours: Callable[[str], bool]
    ) -> None:
        self._app = app
        self._access = access
        self._open_pages = frozenset(open_pages)
        self._ours = ours

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers what may not use the control itself; all else goes on to the control's application."""
        asked = read_head(scope)
        denial = self._access.denial(
            asked.client,
            asked.headers,
            ours=self._ours,
            open_page=asked.path in self._open_pages and asked.method in ("GET", "HEAD"),
        )
        if denial is None:
            await self._app(scope, receive, send)
            return
        extra = {"WWW-Authenticate": "Bearer"} if denial.status == 401 else None
        await JSONResponse([asdict(denial.problem)], denial.status, extra)(scope, receive, send)
