"""The application of all that is not the wiki: control, page, description, metrics; behind the guard."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from mockapi.control.access import Access, Guard, host_name
from mockapi.control.feed_routes import feed_routes
from mockapi.control.journal_routes import journal_routes
from mockapi.control.openapi import document
from mockapi.control.page_routes import DOCS, METRICS, OPEN_PAGES, OPENAPI, ROOT, page_routes, watch_routes
from mockapi.control.refusal import Refusal, refusals
from mockapi.control.rule_routes import RULE, RULES, SWITCH, rule_routes
from mockapi.control.state_routes import NEW_STATE, state_routes
from mockapi.world import Worlds


def is_control(path: str) -> bool:
    """Whether a path is this application's and not the wiki's."""
    return path.startswith(f"{ROOT}/") or path in (ROOT, METRICS, DOCS, OPENAPI)


def control_app(worlds: Worlds, access: Access) -> ASGIApp:
    """The application over `worlds` for those whom `access` lets in."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    @cache
    def described() -> Mapping[str, Any]:
        return document(app.routes, (NEW_STATE, RULE, RULES, SWITCH))

    app.include_router(page_routes(described))
    app.include_router(watch_routes(worlds))
    for routes in (state_routes(worlds), rule_routes(worlds), journal_routes(worlds), feed_routes(worlds)):
        app.include_router(routes, prefix=ROOT)
    for refused in (Refusal, RequestValidationError, HTTPException):
        app.add_exception_handler(refused, refusals(described))
    return Guard(
        app,
        access,
        open_pages=OPEN_PAGES,
        ours=lambda host: worlds.current.wikis.wiki_of_host(host_name(host)) is not None,
    )
