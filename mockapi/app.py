"""The ASGI application: the control, which not everybody may use, and the wiki everywhere else."""

from starlette.types import ASGIApp, Receive, Scope, Send

from mockapi.control.access import LOOPBACK, Access
from mockapi.control.control_app import control_app, is_control
from mockapi.exchange import Exchange
from mockapi.world import Worlds


def create_app(worlds: Worlds, access: Access = LOOPBACK) -> ASGIApp:
    """The whole mock over `worlds`; its control answers those whom `access` lets in."""
    control, wiki = control_app(worlds, access), Exchange(worlds)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        await (control if is_control(scope["path"]) else wiki)(scope, receive, send)

    return app
