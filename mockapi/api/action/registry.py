"""All actions there are."""

from typing import Final

from mockapi.api.action import (
    clientlogin,
    createaccount,
    delete,
    edit,
    help,  # noqa: A004 - the action's name
    login,
    logout,
    move,
    revisiondelete,
    undelete,
    userrights,
)
from mockapi.api.action.query import query

ACTIONS: Final = {
    action.name: action
    for action in (
        login.ACTION,
        clientlogin.ACTION,
        logout.ACTION,
        createaccount.ACTION,
        query.ACTION,
        help.ACTION,
        delete.ACTION,
        undelete.ACTION,
        move.ACTION,
        edit.ACTION,
        userrights.ACTION,
        revisiondelete.ACTION,
    )
}
