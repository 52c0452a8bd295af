"""Stands before the control and lets in whom `Access` lets in."""

from collections.abc import Callable, Collection
from dataclasses import asdict

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mockapi.control.access import Access
from mockapi.server.request import read_head


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
