"""`action=createaccount`: makes an account; who had none is logged in with it."""

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
    *(
        Parameter(name, unprefixed=True)
        for name in ("username", "password", "retype", "email", "realname", "reason", "domain")
    ),
    Parameter("mailpassword", Kind.FLAG, unprefixed=True),
)

_CODES: Final = {"noname": "invaliduser"}


async def run(call: Call, arguments: Arguments) -> None:
    """Adds `createaccount`; a name or password that is refused makes it a FAIL, and no error."""
    authentication.check(arguments)
    name, password = arguments.text("username") or "", arguments.text("password") or ""
    try:
        user = call.accounts.create(name, password, retype=arguments.text("retype") or "")
    except AccountError as error:
        code = _CODES.get(error.code, error.code)
        call.result.add("createaccount", failed(code, error.english))
        return
    call.wrote = True
    if call.user is None:
        log_in(call, name, password)
    call.result.add("createaccount", passed(user.name))


ACTION: Final = Action(
    "createaccount",
    PARAMETERS,
    run,
    prefix="create",
    posted=True,
    writes=True,
    token="createaccount",
)
