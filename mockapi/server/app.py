"""The ASGI application: the control, which not everybody may use, and the wiki everywhere else.

A request by HTTP/1.1 without a Host header, or with two, gets neither: it is answered 400, as every server answers it.
"""

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from mockapi.control.access import LOOPBACK, Access
from mockapi.control.control_app import control_app, is_control
from mockapi.server.request_handler import RequestHandler
from mockapi.world import Worlds

_BAD_HOST: Final = b"HTTP/1.1 requires one Host header\n"
_BAD_HOST_HEADERS: Final = (
    (b"content-type", b"text/plain"),
    (b"content-length", str(len(_BAD_HOST)).encode()),
    (b"connection", b"close"),
)


def create_app(worlds: Worlds, access: Access = LOOPBACK) -> ASGIApp:
    """The whole mock over `worlds`; its control answers those whom `access` lets in."""
    control, wiki = control_app(worlds, access), RequestHandler(worlds)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope.get("http_version") == "1.1" and sum(name == b"host" for name, _ in scope["headers"]) != 1:
            await send({"type": "http.response.start", "status": 400, "headers": list(_BAD_HOST_HEADERS)})
            await send({"type": "http.response.body", "body": _BAD_HOST})
            return
        await (control if is_control(scope["path"]) else wiki)(scope, receive, send)

    return app
