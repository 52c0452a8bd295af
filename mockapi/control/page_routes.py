"""What a browser or a scraper opens: the mock's page, its description, its metrics.

The page is three files that ask the control for JSON; its own policy forbids anything from elsewhere.
"""

from functools import cache
from pathlib import Path
from typing import Final

import orjson
from fastapi import APIRouter, Depends, Request, Response

from mockapi.control.docs import docs_page
from mockapi.control.fault_list import FaultDescription, described
from mockapi.control.metrics import Metrics
from mockapi.control.openapi import Document
from mockapi.control.refusal import only
from mockapi.world import Worlds

ROOT: Final = "/__mock"
DOCS: Final = "/docs"
OPENAPI: Final = "/openapi.json"
METRICS: Final = "/metrics"

_HERE: Final = Path(__file__).parent / "page"
_FILES: Final = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
}
_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "connect-src 'self'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}

OPEN_PAGES: Final = (ROOT, *(f"{ROOT}/{name}" for name in _FILES), DOCS, OPENAPI)
"""The paths of what is the same for all and shows nothing of the state."""


def page_routes(document: Document) -> APIRouter:
    """The page and the description, at their places below `/`."""
    routes = APIRouter(dependencies=[Depends(only())], include_in_schema=False)

    @cache
    def docs() -> str:
        return docs_page(document())

    @routes.get(f"{ROOT}/")
    @routes.get(f"{ROOT}/page.css")
    @routes.get(f"{ROOT}/page.js")
    def page(request: Request) -> Response:
        name, media_type = _FILES[request.url.path.rpartition("/")[2]]
        return Response((_HERE / name).read_bytes(), media_type=media_type, headers=_HEADERS)

    @routes.get(DOCS)
    def get_docs() -> Response:
        return Response(docs(), media_type="text/html", headers=_HEADERS)

    @routes.get(OPENAPI)
    async def get_openapi() -> Response:
        return Response(orjson.dumps(document()), media_type="application/json")

    return routes


def watch_routes(worlds: Worlds) -> APIRouter:
    """Metrics and the list of faults, at their places below `/`."""
    routes = APIRouter(tags=["watching"], dependencies=[Depends(only())])
    metrics = Metrics(worlds)

    @routes.get(
        METRICS, response_class=Response, responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
    )
    async def get_metrics(request: Request) -> Response:
        """The figures in Prometheus' text format, or OpenMetrics for who accepts it."""
        text, content_type = metrics.text(request.headers.get("accept", ""))
        return Response(text, headers={"Content-Type": content_type})

    @routes.get(f"{ROOT}/faults")
    async def get_faults() -> tuple[FaultDescription, ...]:
        """All faults that a rule can have, with their parameters and an example."""
        return described()

    return routes
