"""The control interface: HTTP with JSON, for this machine only.

GET    /listeners                        all listeners
POST   /listeners                        NewListener → ListenerState
DELETE /listeners/{name}
GET    /listeners/{name}/toxics          all toxics, also those that have ended
POST   /listeners/{name}/toxics          NewToxic → ToxicState
DELETE /listeners/{name}/toxics/{toxic}  ends it → ToxicState, with the final counts
"""

from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from devkit.proxy.errors import RefusedError, TakenError, UnknownNameError
from devkit.proxy.model import NewListener, NewToxic, Refusal
from devkit.proxy.proxy import Proxy

M = TypeVar("M", bound=BaseModel)


def create_control(proxy: Proxy) -> Starlette:
    """The HTTP control interface of a proxy: listeners, toxics and proofs as JSON."""

    async def listeners(request: Request) -> Response:
        if request.method == "POST":
            return _json((await proxy.listen(await _body(request, NewListener))).state, 201)
        return _json([listener.state for listener in proxy.listeners])

    async def listener(request: Request) -> Response:
        await proxy.close(request.path_params["name"])
        return Response(status_code=204)

    async def toxics(request: Request) -> Response:
        target = proxy.listener(request.path_params["name"])
        if request.method == "POST":
            return _json(await target.add(await _body(request, NewToxic)), 201)
        return _json(target.toxics)

    async def toxic(request: Request) -> Response:
        target = proxy.listener(request.path_params["name"])
        return _json(await target.remove(request.path_params["toxic"]))

    return Starlette(
        routes=[
            Route("/listeners", listeners, methods=["GET", "POST"]),
            Route("/listeners/{name}", listener, methods=["DELETE"]),
            Route("/listeners/{name}/toxics", toxics, methods=["GET", "POST"]),
            Route("/listeners/{name}/toxics/{toxic:path}", toxic, methods=["DELETE"]),
        ],
        # A foreign host name that resolves to loopback would let a browser's page in.
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])],
        exception_handlers={RefusedError: _refused, ValidationError: _invalid},
    )


async def _body(request: Request, model: type[M]) -> M:
    # A page in a browser may send other types without asking first.
    if request.headers.get("content-type") != "application/json":
        raise HTTPException(415, "send application/json")
    return model.model_validate_json(await request.body())


def _json(value: BaseModel | Sequence[BaseModel], status: int = 200) -> Response:
    if isinstance(value, BaseModel):
        text = value.model_dump_json()
    else:
        text = f"[{','.join(item.model_dump_json() for item in value)}]"
    return Response(text, status, media_type="application/json")


def _refused(_request: Request, error: Exception) -> Response:
    if isinstance(error, UnknownNameError):
        return _json(Refusal(error=str(error), kind="unknown"), 404)
    if isinstance(error, TakenError):
        return _json(Refusal(error=str(error), kind="taken"), 409)
    return _json(Refusal(error=str(error), kind="invalid"), 422)


def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ValidationError)
    what = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_url=False))
    return _json(Refusal(error=what, kind="invalid"), 422)
