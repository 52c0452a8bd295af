"""What happens to a client's session and cookies when it logs in or out."""

from typing import Final

from mockapi.api.action.call import Call
from mockapi.draws import digest
from mockapi.wiki.accounts import AccountError, User

_AFTER_LOGIN: Final = ("_session", "UserID", "Token")


def log_in(call: Call, name: str, password: str, *, remember: bool = False) -> User:
    """Ends the client's session and begins the user's. Raises AccountError.

    To be remembered takes a cookie more, which is not looked at here: sessions do not end by time.
    """
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


def log_out(call: Call) -> None:
    """Ends the client's session; its cookies are to be deleted."""
    call.accounts.logout(call.session)
    call.session = None
    call.cookies |= {call.cookie(name): "" for name in _AFTER_LOGIN}
