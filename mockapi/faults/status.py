"""Status: answers with an error, or with a given body, in place of the page.

`mockapi.api.status` has the words of those who give such an answer in production.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from located_config.duration import Duration
from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.faults.slots import ANSWER
from mockapi.plan import Plan, StatusAnswer
from mockapi.values.strict import Strict, spelled_out

OK: Final = 200
NO_CONTENT: Final = 204

_BY_OTHER_FAULTS: Final = {
    "content-length": "the fault content_length",
    "content-encoding": "the fault content_encoding",
    "transfer-encoding": "a fault of the body, such as malformed_chunk",
    "connection": "the fault close, in a rule of its own",
}
"""Headers that say how the answer's bytes are sent, and how a rule changes these."""


def _no_page(code: int) -> int:
    if code < 400 and code not in (OK, NO_CONTENT):
        hint = "400 to 599, 200 with a body of your own, or 204 for no content"
        raise PydanticCustomError("status_code", "status {code} is no error", {"code": code, "hint": hint})
    return code


def _header_name(name: str) -> str:
    if (other := _BY_OTHER_FAULTS.get(name.lower())) is not None:
        raise PydanticCustomError("status_header", "{name} is not set here", {"name": name, "hint": f"use {other}"})
    return name


_HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"), AfterValidator(_header_name)]
_HeaderValue = Annotated[str, Field(pattern=r"^(?:[!-~](?:[ -~\t]*[!-~])?)?$")]


class Status(Strict):
    """An answer that is not the page. Without `body` the words are those of the part that gives such an answer in
    production: a proxy for 502, 503 and 504, the gateway for 429, MediaWiki for the rest. `Retry-After` is in seconds,
    or the date of then.
    """

    code: Annotated[int, Field(le=599), AfterValidator(_no_page)] = Field(
        description="HTTP status of the answer: 400 to 599, 200 with a `body`, or 204 for an answer without content.",
        json_schema_extra={"minimum": OK},
    )
    body: str | None = Field(
        default=None,
        description="Text of the answer. Default: the words of the part that gives such an answer in production.",
    )
    retry_after: Duration | None = Field(
        default=None, description="Time after which the client may try again, sent as `Retry-After`; whole seconds."
    )
    retry_after_as: Literal["seconds", "date"] = Field(
        default="seconds", description="Whether `Retry-After` has a number of seconds or a date."
    )

    headers: dict[_HeaderName, _HeaderValue] | None = Field(
        default=None,
        min_length=1,
        description="Headers of the answer, in place of its own headers of these names.",
        examples=[{"Content-Type": "application/json", "X-Cache": "miss"}],
    )

    @model_validator(mode="after")
    def _own_body(self) -> Self:
        if self.code == OK and self.body is None:
            raise PydanticCustomError("status_code", "status 200 is no error", {"hint": "give it a body of your own"})
        return self

    @model_validator(mode="after")
    def _one_of_a_name(self) -> Self:
        names = [name.lower() for name in self.headers or ()]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise PydanticCustomError("status_header", "two headers {name}", {"name": repeated[0], "hint": "keep one"})
        if self.retry_after is not None and "retry-after" in names:
            raise PydanticCustomError(
                "status_header", "retry_after and a header Retry-After", {"hint": "keep one of them"}
            )
        return self

    @model_validator(mode="after")
    def _whole_seconds(self) -> Self:
        if self.retry_after is not None and self.retry_after % timedelta(seconds=1):
            raise PydanticCustomError(
                "retry_after", "retry_after is not in whole seconds", {"hint": "the header has no fractions: 1s, 2m"}
            )
        return self


def apply(plan: Plan, status: Status, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets the status, replacing that of an earlier rule."""
    answer = StatusAnswer(
        status.code,
        status.body,
        status.retry_after,
        status.retry_after_as,
        headers=tuple((status.headers or {}).items()),
    )
    return replace(plan, status=answer)


FAULT = Fault(
    name="status",
    group="proxy",
    summary="answers with that status in the words of the part that would give it",
    docs=(
        "an error (or 204) instead of the page, in the words of the part that gives it in production; or `{code: 503, "
        "retry_after: 5s, body: …, headers: {X-Cache: miss}}`, with `retry_after_as: date` for an HTTP date; 200 with "
        "a `body` of your own"
    ),
    takes=Annotated[Status, spelled_out("code", int | Status)],
    example=504,
    apply=apply,
    claims=(ANSWER,),
)
