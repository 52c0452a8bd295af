"""The actions about accounts: `login`, `logout`, `clientlogin`, `createaccount` and `userrights`.

`clientlogin` and `createaccount` answer PASS or FAIL, and share the parameters of a login form.
"""

from typing import Final

from mockapi.api.action.call import Call, one_line
from mockapi.api.action.errors import ApiError, at_least_one_required, must_be_in_body
from mockapi.api.action.module import Action
from mockapi.api.action.parameters import Arguments, Kind, Parameter
from mockapi.api.action.tree import Tree
from mockapi.draws import digest
from mockapi.wiki.accounts import GROUPS, AccountError, User

_DELETED_AT_LOGOUT: Final = ("_session", "UserID", "Token")


def _log_in(call: Call, name: str, password: str, *, remember: bool = False) -> User:
    """Ends the client's session and begins the user's; `remember` adds the cookie for it. Raises AccountError."""
    call.session = call.accounts.login(call.session, name, password)
    user = call.user
    if user is None:
        raise AccountError("wrongpassword", "Incorrect username or password entered. Please try again.")
    call.cookies |= {
        call.cookie("_session"): call.session.id,
        call.cookie("UserID"): str(user.id),
        call.cookie("UserName"): user.name,
    }
    if remember:
        call.cookies[call.cookie("Token")] = digest(call.world.seed, "remembered", call.session.id).hex()
    return user


_AUTHENTICATION_PARAMETERS: Final = (
    Parameter("requests", several=True),
    Parameter("messageformat", allowed=("html", "none", "raw", "wikitext"), default="wikitext"),
    Parameter("mergerequestfields", Kind.FLAG),
    Parameter("preservestate", Kind.FLAG),
    Parameter("returnurl"),
    Parameter("continue", Kind.FLAG),
    Parameter("token", required=True),
)
"""With the prefix of the action; the fields of the login form have none."""


def _check_return(arguments: Arguments) -> None:
    """Raises ApiError when neither of `continue` and `returnurl` is given."""
    if arguments.values["returnurl"] is None and not arguments.flag("continue"):
        raise at_least_one_required([arguments.full("continue"), arguments.full("returnurl")])


def _passed(name: str) -> dict[str, Tree]:
    return {"status": "PASS", "username": name}


def _failed(code: str, message: str) -> dict[str, Tree]:
    return {"status": "FAIL", "message": message, "messagecode": code, "canpreservestate": False}


_LOGIN_PARAMETERS: Final = (Parameter("name"), Parameter("password"), Parameter("domain"), Parameter("token"))

_MAIN_ACCOUNT: Final = (
    'Main-account login via "action=login" is deprecated and may stop working without warning. To continue login with '
    '"action=login", see [[Special:BotPasswords]]. To safely continue using main-account login, see '
    '"action=clientlogin".'
)
_SESSION_LOST: Final = "Unable to continue login. Your session most likely timed out."


async def _run_login(call: Call, arguments: Arguments) -> None:
    """Adds `login`, whose `result` says how it went."""
    if call.untrusted:
        text = "Cannot log in when the same-origin policy is not applied."
        call.result.add("login", {"result": "Aborted", "reason": text})
        return
    public = [name for name in ("lgpassword", "lgtoken") if name in call.form.in_query]
    if public:
        raise must_be_in_body(public)
    call.result.add("login", _answer_login(call, arguments))


def _answer_login(call: Call, arguments: Arguments) -> dict[str, Tree]:
    had_session = call.session is not None
    session, token = call.keep_session(), arguments.text("token")
    if not token:
        text = 'Fetching a token via "action=login" is deprecated. Use "action=query&meta=tokens&type=login" instead.'
        call.result.deprecate("login", text, "action=login&!lgtoken")
        return {"result": "NeedToken", "token": call.accounts.token("login", session)}
    if not had_session:
        return _failed_login(_SESSION_LOST)
    if not call.accounts.accepts("login", session, token):
        # The session that a login begins has given no token yet.
        return {"result": "WrongToken"} if call.user is None else _failed_login(_SESSION_LOST)
    try:
        user = _log_in(call, arguments.text("name") or "", arguments.text("password") or "", remember=True)
    except AccountError as error:
        return _failed_login(one_line(error.english))
    call.result.deprecate("login", _MAIN_ACCOUNT, "main-account-login")
    return {"result": "Success", "lguserid": user.id, "lgusername": user.name}


def _failed_login(reason: str) -> dict[str, Tree]:
    return {"result": "Failed", "reason": reason}


LOGIN: Final = Action("login", _LOGIN_PARAMETERS, _run_login, prefix="lg", posted=True, writes=True)


_LOGOUT_PARAMETERS: Final = (Parameter("token", required=True),)


async def _run_logout(call: Call, arguments: Arguments) -> None:  # noqa: ARG001 - its token was checked
    """Ends the session and deletes its cookies; the answer has no member for it."""
    call.accounts.logout(call.session)
    call.session = None
    call.cookies |= {call.cookie(name): "" for name in _DELETED_AT_LOGOUT}


LOGOUT: Final = Action("logout", _LOGOUT_PARAMETERS, _run_logout, posted=True, writes=True, token="csrf")


_CLIENTLOGIN_PARAMETERS: Final = (
    *_AUTHENTICATION_PARAMETERS,
    Parameter("username", unprefixed=True),
    Parameter("password", unprefixed=True),
    Parameter("domain", unprefixed=True),
    Parameter("rememberMe", Kind.FLAG, unprefixed=True),
)


async def _run_clientlogin(call: Call, arguments: Arguments) -> None:
    """Adds `clientlogin`; credentials that are wrong make it a FAIL, and no error."""
    _check_return(arguments)
    name, password = arguments.text("username"), arguments.text("password")
    if not name or not password:
        text = "The supplied credentials could not be authenticated."
        call.result.add("clientlogin", _failed("authmanager-authn-no-primary", text))
        return
    try:
        user = _log_in(call, name, password)
    except AccountError:
        text = "Incorrect username or password entered.\nPlease try again."
        call.result.add("clientlogin", _failed("wrongpassword", text))
        return
    call.result.add("clientlogin", _passed(user.name))


CLIENTLOGIN: Final = Action(
    "clientlogin", _CLIENTLOGIN_PARAMETERS, _run_clientlogin, prefix="login", posted=True, writes=True, token="login"
)


_CREATEACCOUNT_PARAMETERS: Final = (
    *_AUTHENTICATION_PARAMETERS,
    *(
        Parameter(name, unprefixed=True)
        for name in ("username", "password", "retype", "email", "realname", "reason", "domain")
    ),
    Parameter("mailpassword", Kind.FLAG, unprefixed=True),
)

_CREATEACCOUNT_CODES: Final = {"noname": "invaliduser"}


async def _run_createaccount(call: Call, arguments: Arguments) -> None:
    """Adds `createaccount`; a name or password that is refused makes it a FAIL, and no error."""
    _check_return(arguments)
    name, password = arguments.text("username") or "", arguments.text("password") or ""
    try:
        user = call.accounts.create(name, password, retype=arguments.text("retype") or "")
    except AccountError as error:
        code = _CREATEACCOUNT_CODES.get(error.code, error.code)
        call.result.add("createaccount", _failed(code, error.english))
        return
    call.wrote = True
    if call.user is None:
        _log_in(call, name, password)
    call.result.add("createaccount", _passed(user.name))


CREATEACCOUNT: Final = Action(
    "createaccount",
    _CREATEACCOUNT_PARAMETERS,
    _run_createaccount,
    prefix="create",
    posted=True,
    writes=True,
    token="createaccount",
)


_USERRIGHTS_PARAMETERS: Final = (
    Parameter("user", required=True),
    Parameter("add", allowed=GROUPS, several=True),
    *(Parameter(name, unimplemented=True) for name in ("userid", "expiry", "remove")),
    Parameter("reason", default=""),
    Parameter("token", required=True),
    Parameter("tags", several=True),
    Parameter("watchuser", Kind.FLAG),
)


async def _run_userrights(call: Call, arguments: Arguments) -> None:
    """Adds `userrights`: the groups that are new, none without the right. Raises ApiError for an unknown user."""
    allowed = call.may("userrights")
    groups = arguments.many("add") or () if allowed else ()
    try:
        user, added = call.accounts.add_groups(arguments.text("user") or "", groups)
    except AccountError as error:
        raise ApiError(error.code, one_line(error.english)) from None
    call.wrote = allowed
    answer: dict[str, Tree] = {"user": user.name, "userid": user.id, "added": added, "removed": []}
    call.result.add("userrights", {**answer, "watchuser": arguments.flag("watchuser")})


USERRIGHTS: Final = Action(
    "userrights", _USERRIGHTS_PARAMETERS, _run_userrights, posted=True, writes=True, token="userrights"
)
"""It makes administrators for MediaWiki's own tests of its API, which never take a group away."""
