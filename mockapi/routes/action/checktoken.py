"""`action=checktoken`: whether a token is good."""

from typing import Final

from mockapi.routes.action.call import Call
from mockapi.routes.action.module import Action
from mockapi.routes.action.parameters import Arguments, Kind, Parameter
from mockapi.wiki.accounts import TOKEN_KINDS

PARAMETERS: Final = (
    Parameter("type", allowed=TOKEN_KINDS, required=True),
    Parameter("token", required=True),
    Parameter("maxtokenage", Kind.INTEGER),
)


async def run(call: Call, arguments: Arguments) -> None:
    """Adds `checktoken`: `valid` or `invalid`, and no error either way."""
    token = arguments.text("token") or ""
    kind = next(kind for kind in TOKEN_KINDS if kind == arguments.text("type"))
    good = call.accounts.accepts(kind, call.session, token)
    call.result.add("checktoken", {"result": "valid" if good else "invalid"})


ACTION: Final = Action("checktoken", PARAMETERS, run)
