"""Proxy page: a proxy answers in MediaWiki's place, with a page for people or an error in JSON.

So answers a proxy that is misrouted or under maintenance. Nothing in it is MediaWiki's: no `errorKey`, no `error.code`,
no `Content-Revision-Id`. A client that believes it takes a page for lost, or publishes the page as the wiki's.
"""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.faults.slots import ANSWER
from mockapi.plan import Plan, StatusAnswer
from mockapi.values.strict import Strict, spelled_out

_HTML = (
    "<!DOCTYPE html>\n<html><head><title>Maintenance</title></head>"
    "<body><h1>This site is under maintenance</h1><p>Please try again later.</p></body></html>\n"
)
_JSON = '{"message":"no route"}'


class ProxyPage(Strict):
    """An answer in words that are not MediaWiki's, from a proxy before it."""

    code: Literal[200, 401, 403, 404] = Field(
        default=200, description="HTTP status of the answer: 200, 401, 403 or 404."
    )
    body: Literal["html", "json", "empty"] = Field(
        default="html",
        description="What the answer holds: `html`, a page for people, `json`, an error, or `empty`, nothing.",
    )


def apply(plan: Plan, page: ProxyPage, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets the answer, replacing the status of an earlier rule."""
    words = {"html": _HTML, "json": _JSON, "empty": ""}[page.body]
    kind = "application/json" if page.body == "json" else "text/html; charset=utf-8"
    return replace(plan, status=StatusAnswer(page.code, words, content_type=kind))


FAULT = Fault(
    name="proxy_page",
    group="proxy",
    summary="a proxy's page in place of MediaWiki's answer, without MediaWiki's words",
    docs=(
        "a proxy's page in place of MediaWiki's answer, with that status and without MediaWiki's words, as from a "
        "proxy that is misrouted or under maintenance; or `{code: 404, body: json}`"
    ),
    takes=Annotated[ProxyPage, spelled_out("code", int | ProxyPage)],
    example=200,
    apply=apply,
    claims=(ANSWER,),
)
