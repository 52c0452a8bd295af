"""The ASGI application: the control under `/__mock`, the wiki everywhere else.

The control answers loopback clients only, since it can make the mock do anything; the wiki's paths answer everyone.
"""

import ipaddress
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


class LoopbackOnly:
    """Refuses, with 403, clients that are not on this machine."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        if scope["type"] == "http" and not (client and is_loopback(client[0])):
            problem = Problem("", "the control answers on loopback only", "call it from the machine the mock runs on")
            await JSONResponse([asdict(problem)], 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def is_loopback(host: str) -> bool:
    """Whether an address, IPv4, IPv6 or IPv4 inside IPv6, is the machine's own; False for what is no address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    inner = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (inner or address).is_loopback


def create_app(worlds: Worlds) -> FastAPI:
    """The whole mock over `worlds`."""
    control = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    routers = (state_routes(worlds), journal_routes(worlds))
    for router in routers:
        control.include_router(router)
    for refused in (Refusal, RequestValidationError, HTTPException):
        control.add_exception_handler(refused, refusals(routers))
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.mount(CONTROL_ROOT, LoopbackOnly(control))
    app.mount("/", RestApi(worlds))
    return app
