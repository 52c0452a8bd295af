"""`action=logout`: ends the client's session."""

from typing import Final

from mockapi.api.action.call import Call
from mockapi.api.action.logging_in import log_out
from mockapi.api.action.module import Action
from mockapi.api.action.parameters import Arguments, Parameter

PARAMETERS: Final = (Parameter("token", required=True),)


async def run(call: Call, arguments: Arguments) -> None:  # noqa: ARG001 - its token was checked
    """Ends the session and deletes its cookies; the answer has no member for it."""
    log_out(call)


ACTION: Final = Action("logout", PARAMETERS, run, posted=True, writes=True, token="csrf")
