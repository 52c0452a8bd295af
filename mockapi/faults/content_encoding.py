"""Content encoding: the header names another coding than that of the bytes; `identity` takes the header away.

It does so for every client: a body that would have the named coding goes out without one, and where the header is to go
the body is compressed with gzip.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from mockapi.draws import Draw
from mockapi.faults.body import BodyChange
from mockapi.faults.fault import Clash, Fault
from mockapi.plan import Plan
from mockapi.rules.proof import unchanged
from mockapi.server.delivery import Effect
from mockapi.values.strict import Strict, spelled_out


class ContentEncoding(Strict):
    """What the header `says`: a known coding or any other word."""

    says: str = Field(
        pattern=r"^[A-Za-z0-9_-]+$",
        max_length=40,
        description="Value of `Content-Encoding`: a known coding or any other word.",
    )


def apply(plan: Plan, encoding: ContentEncoding, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets the header, replacing that of an earlier rule."""
    says = "" if encoding.says == "identity" else encoding.says
    return replace(plan, delivery=replace(plan.delivery, coding=says))


def clash(encoding: ContentEncoding, given: Mapping[str, object]) -> Clash | None:
    """The same coding of the body."""
    body = given.get("body")
    if isinstance(body, BodyChange) and body.encoding == encoding.says:
        return Clash("body.encoding", "the header would be right: name another coding in one of the two")
    return None


FAULT = Fault(
    name="content_encoding",
    group="body",
    summary="Content-Encoding names another coding than that of the bytes",
    docs="the header names a coding that the bytes do not have",
    takes=Annotated[ContentEncoding, spelled_out("says", str | ContentEncoding)],
    example="gzip",
    apply=apply,
    clash=clash,
    inaction=unchanged(Effect.CODING, "each answer had that header anyway"),
)
