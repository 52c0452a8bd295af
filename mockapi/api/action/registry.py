"""All actions, with `help`, which is also what a request without an action asks for."""

from typing import Final

from mockapi.api.action import edit, revisiondelete
from mockapi.api.action.account_actions import CLIENTLOGIN, CREATEACCOUNT, LOGIN, LOGOUT, USERRIGHTS
from mockapi.api.action.call import Call
from mockapi.api.action.entity_actions import ENTITY_ACTIONS
from mockapi.api.action.module import Action
from mockapi.api.action.page_actions import DELETE, MOVE, UNDELETE
from mockapi.api.action.parameters import Arguments, Kind, Parameter
from mockapi.api.action.query import query

HELP: Final = "help"

_HELP_PARAMETERS: Final = (
    Parameter("modules", several=True),
    *(Parameter(name, Kind.FLAG) for name in ("submodules", "recursivesubmodules", "wrap", "toc")),
)


async def _run_help(call: Call, arguments: Arguments) -> None:
    """Adds nothing: the page takes the place of the result."""


ACTIONS: Final = {
    action.name: action
    for action in (
        LOGIN,
        CLIENTLOGIN,
        LOGOUT,
        CREATEACCOUNT,
        query.ACTION,
        Action(HELP, _HELP_PARAMETERS, _run_help),
        DELETE,
        UNDELETE,
        MOVE,
        edit.ACTION,
        USERRIGHTS,
        revisiondelete.ACTION,
        *ENTITY_ACTIONS,
    )
}
