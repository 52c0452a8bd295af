"""`action=clientlogin`: logs in as a person does in a browser."""

from typing import Final

from mockapi.api.action import authentication
from mockapi.api.action.authentication import failed, passed
from mockapi.api.action.call import Call
from mockapi.api.action.logging_in import log_in
from mockapi.api.action.module import Action
from mockapi.api.action.parameters import Arguments, Kind, Parameter
from mockapi.wiki.accounts import AccountError

PARAMETERS: Final = (
    *authentication.PARAMETERS,
    Parameter("username", unprefixed=True),
    Parameter("password", unprefixed=True),
    Parameter("domain", unprefixed=True),
    Parameter("rememberMe", Kind.FLAG, unprefixed=True),
)


async def run(call: Call, arguments: Arguments) -> None:
    """Adds `clientlogin`; credentials that are wrong make it a FAIL, and no error."""
    authentication.check(arguments)
    name, password = arguments.text("username"), arguments.text("password")
    if not name or not password:
        text = "The supplied credentials could not be authenticated."
        call.result.add("clientlogin", failed("authmanager-authn-no-primary", text))
        return
    try:
        user = log_in(call, name, password)
    except AccountError:
        text = "Incorrect username or password entered.\nPlease try again."
        call.result.add("clientlogin", failed("wrongpassword", text))
        return
    call.result.add("clientlogin", passed(user.name))


ACTION: Final = Action(
    "clientlogin",
    PARAMETERS,
    run,
    prefix="login",
    posted=True,
    writes=True,
    token="login",
)
