"""`POST /w/index.php` with `title=Special:RunJobs`: where test suites have a wiki do what it put off.

Nothing is put off here, so there never is a job. The signature that MediaWiki checks is not looked at.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import orjson

from mockapi.api import status as statuses
from mockapi.api.action.answer_headers import LONG_AGO, NO_SNIFF, PRIVATE, end_of_head, id_header
from mockapi.api.action.form import Form, read_form
from mockapi.api.endpoint import Context
from mockapi.plan import StatusAnswer
from mockapi.rules.matching import Target
from mockapi.server.reply import Reply
from mockapi.server.request import Request

if TYPE_CHECKING:
    from mockapi.world import World

PATH: Final = "/w/index.php"

_TITLE: Final = "special:runjobs"
_NEEDED: Final = ("tasks", "signature", "sigexpiry")


@dataclass(frozen=True, slots=True)
class RunJobs:
    """A request for `Special:RunJobs`; there never is a job to run."""

    form: Form
    targets: tuple[Target, ...]
    key: str = "title=Special:RunJobs"
    renders: bool = False

    @classmethod
    def match(cls, request: Request, world: "World") -> Self | None:
        """None for a path or title that is another one."""
        if request.path != PATH:
            return None
        form = read_form(request)
        if form.values.get("title", "").replace(" ", "_").lower() != _TITLE:
            return None
        wiki = world.wikis.serving(request.host)
        return cls(form, (Target(wiki=wiki.name if wiki else None),))

    def status_reply(self, status: StatusAnswer, request_id: str) -> Reply:
        """Without words of a resource: it has none."""
        return statuses.reply(status, request_id)

    async def reply(self, context: Context) -> Reply:
        """That no jobs are left; 400 for what is no POST or lacks parameters."""
        if not self.form.posted:
            return _bad_request("Request must be POSTed.", context.request_id)
        missing = [name for name in _NEEDED if name not in self.form.values]
        if missing:
            return _bad_request(f"Missing parameters: {', '.join(missing)}", context.request_id)
        body = orjson.dumps({"jobs": [], "backoffs": [], "elapsed": 0, "reached": "none-ready"})
        return index_reply(200, b"application/json", body, context.request_id)


def _bad_request(text: str, request_id: str) -> Reply:
    page = (
        "<!DOCTYPE html><html><head><title>Bad Request</title></head>"
        f"<body><h1>Bad Request</h1><p>{text}</p></body></html>\n"
    )
    return index_reply(400, b"text/html; charset=utf-8", page.encode(), request_id)


def index_reply(code: int, content_type: bytes, body: bytes, request_id: str) -> Reply:
    """An answer of `index.php`, which no cache keeps."""
    headers = (
        NO_SNIFF,
        (b"vary", b"Accept-Encoding, Cookie"),
        LONG_AGO,
        PRIVATE,
        (b"content-type", content_type),
        *(end_of_head(request_id, len(body)) if code == 200 else (id_header(request_id),)),
    )
    return Reply.of(code, headers, body)
