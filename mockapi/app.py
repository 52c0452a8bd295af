"""The ASGI application: the control under `/__mock`, the wiki everywhere else.

The control can make the mock do anything, so it answers only loopback clients and those of networks that were named
at the start (in a container the peer is the bridge, never loopback). The wiki's paths answer everyone.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from mockapi.problems import Problem
from mockapi.routes.control import state_routes
from mockapi.routes.journal import journal_routes
from mockapi.routes.refusal import Refusal, refusals
from mockapi.routes.rest import RestApi
from mockapi.world import Worlds

CONTROL_ROOT: Final = "/__mock"

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class ControlAccess:
    """Refuses, with 403, clients that are neither on this machine nor in one of `networks`."""

    def __init__(self, app: ASGIApp, networks: Sequence[Network]) -> None:
        self._app = app
        self._networks = networks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        if scope["type"] == "http" and not (client and may_control(client[0], self._networks)):
            places = " and ".join(["on loopback", *(f"in {network}" for network in self._networks)])
            problem = Problem(
                client[0] if client else "",
                f"the control answers {places} only",
                "call it from the machine the mock runs on, or start it with --allow-control and your network",
            )
            await JSONResponse([asdict(problem)], 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def may_control(host: str, networks: Sequence[Network] = ()) -> bool:
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


def create_app(worlds: Worlds, control_networks: Sequence[Network] = ()) -> FastAPI:
    """The whole mock over `worlds`; its control also answers clients in `control_networks`."""
    control = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    routers = (state_routes(worlds), journal_routes(worlds))
    for router in routers:
        control.include_router(router)
    for refused in (Refusal, RequestValidationError, HTTPException):
        control.add_exception_handler(refused, refusals(routers))
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.mount(CONTROL_ROOT, ControlAccess(control, control_networks))
    app.mount("/", RestApi(worlds))
    return app
