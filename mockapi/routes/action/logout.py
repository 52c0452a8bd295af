"""`action=logout`: ends the client's session."""

from typing import Final

from mockapi.routes.action.call import Call
from mockapi.routes.action.logging_in import log_out
from mockapi.routes.action.module import Action
from mockapi.routes.action.parameters import Arguments, Parameter

PARAMETERS: Final = (Parameter("token", required=True),)


async def run(call: Call, arguments: Arguments) -> None:  # noqa: ARG001 - its token was checked
    """Ends the session and deletes its cookies; the answer has no member for it."""
    log_out(call)


ACTION: Final = Action("logout", PARAMETERS, run, posted=True, writes=True, token="csrf")
