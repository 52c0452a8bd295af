"""`action=login`: the older way to log in, which bots use."""

from typing import Final

from mockapi.api.action.call import Call, one_line
from mockapi.api.action.errors import must_be_in_body
from mockapi.api.action.logging_in import log_in
from mockapi.api.action.module import Action
from mockapi.api.action.parameters import Arguments, Parameter
from mockapi.api.action.tree import Tree
from mockapi.wiki.accounts import AccountError

PARAMETERS: Final = (Parameter("name"), Parameter("password"), Parameter("domain"), Parameter("token"))

_MAIN_ACCOUNT: Final = (
    'Main-account login via "action=login" is deprecated and may stop working without warning. To continue login with '
    '"action=login", see [[Special:BotPasswords]]. To safely continue using main-account login, see '
    '"action=clientlogin".'
)
_LOST: Final = "Unable to continue login. Your session most likely timed out."


async def run(call: Call, arguments: Arguments) -> None:
    """Adds `login`, whose `result` says how it went."""
    if call.untrusted:
        text = "Cannot log in when the same-origin policy is not applied."
        call.result.add("login", {"result": "Aborted", "reason": text})
        return
    public = [name for name in ("lgpassword", "lgtoken") if name in call.form.in_query]
    if public:
        raise must_be_in_body(public)
    call.result.add("login", _answer(call, arguments))


def _answer(call: Call, arguments: Arguments) -> dict[str, Tree]:
    had_session = call.session is not None
    session, token = call.keep_session(), arguments.text("token")
    if not token:
        text = 'Fetching a token via "action=login" is deprecated. Use "action=query&meta=tokens&type=login" instead.'
        call.result.deprecate("login", text, "action=login&!lgtoken")
        return {"result": "NeedToken", "token": call.accounts.token("login", session)}
    if not had_session:
        return _failed(_LOST)
    if not call.accounts.accepts("login", session, token):
        # The session that a login begins has given no token yet.
        return {"result": "WrongToken"} if call.user is None else _failed(_LOST)
    try:
        user = log_in(call, arguments.text("name") or "", arguments.text("password") or "", remember=True)
    except AccountError as error:
        return _failed(one_line(error.english))
    call.result.deprecate("login", _MAIN_ACCOUNT, "main-account-login")
    return {"result": "Success", "lguserid": user.id, "lgusername": user.name}


def _failed(reason: str) -> dict[str, Tree]:
    return {"result": "Failed", "reason": reason}


ACTION: Final = Action("login", PARAMETERS, run, prefix="lg", posted=True, writes=True)
