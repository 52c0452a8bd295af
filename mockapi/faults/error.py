"""Error: a request that MediaWiki refuses with an error of its own, by the code that its Action API has for it.

The Action API answers 200 with the error, the REST API with the status and the key that it has for it. An error that a
request cannot get in MediaWiki does not come: a wiki that is read-only is read as usual.
"""

import re
from dataclasses import replace
from typing import Annotated, Final

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from located_config.near import near_miss
from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.faults.slots import ANSWER
from mockapi.plan import Plan
from mockapi.rules.proof import Met
from mockapi.server.delivery import Effect

CODES: Final = (
    "ratelimited",
    "readonly",
    "maxlag",
    "badtoken",
    "assertuserfailed",
    "assertbotfailed",
    "assertanonfailed",
    "assertnameduserfailed",
    "blocked",
    "autoblocked",
    "protectedpage",
    "editconflict",
)
OF_WRITES: Final = frozenset(code for code in CODES if code != "maxlag" and not code.startswith("assert"))
"""Those for requests that write. The others are for requests that ask for a check, whatever else they do.

There is one request of another kind: HTML that is to be stashed has a rate limit (`mockapi.api.rest.planned_error`).
"""
EXCEPTION: Final = "internal_api_error_"
"""Begins the code of an exception; the name of its class follows."""

_EXCEPTION_PATTERN: Final = rf"^{EXCEPTION}[A-Za-z_][A-Za-z0-9_]*$"


_DATABASE: Final = "Wikimedia\\Rdbms\\"


def full_class(name: str) -> str:
    """The class of an exception by its short name: MediaWiki leaves out where those of the database are."""
    return f"{_DATABASE}{name}" if name.startswith("DB") else name


def _known(code: str) -> str:
    if code not in CODES and not re.match(_EXCEPTION_PATTERN, code):
        hint = near_miss(code, (*CODES, f"{EXCEPTION}DBQueryError"))
        raise PydanticCustomError("error_code", "no error {code} of MediaWiki", {"code": repr(code), "hint": hint})
    return code


ErrorCode = Annotated[
    str,
    AfterValidator(_known),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "enum": list(CODES)}, {"type": "string", "pattern": _EXCEPTION_PATTERN}]}
    ),
]


def apply(plan: Plan, code: str, draw: Draw) -> Plan:  # noqa: ARG001 - nothing is drawn
    """Sets the error, replacing that of an earlier rule."""
    return replace(plan, error=code)


def inaction(code: str, met: Met) -> str:
    """Nothing once a client got the error."""
    if met.changed_by.get(Effect.ERROR):
        return ""
    return f"no answer was the error {code}: docs/faults.md says which requests can get it"


FAULT = Fault(
    name="error",
    group="wiki",
    summary="an error of MediaWiki's own, by its code in the Action API",
    docs=(
        "an error of MediaWiki's own, by its code in the Action API: 200 with `error` there, the status and `errorKey` "
        "of the REST API, for the requests that can get it"
    ),
    takes=ErrorCode,
    example="readonly",
    apply=apply,
    claims=(ANSWER,),
    inaction=inaction,
)
