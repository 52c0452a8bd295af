"""What `clientlogin` and `createaccount` have in common: their parameters, and the answer that says PASS or FAIL."""

from typing import Final

from mockapi.api.action.errors import at_least_one_required
from mockapi.api.action.parameters import Arguments, Kind, Parameter
from mockapi.api.action.tree import Tree

PARAMETERS: Final = (
    Parameter("requests", several=True),
    Parameter("messageformat", allowed=("html", "none", "raw", "wikitext"), default="wikitext"),
    Parameter("mergerequestfields", Kind.FLAG),
    Parameter("preservestate", Kind.FLAG),
    Parameter("returnurl"),
    Parameter("continue", Kind.FLAG),
    Parameter("token", required=True),
)
"""With the action's prefix; the fields of the form that a person would fill in have none."""


def check(arguments: Arguments) -> None:
    """Raises ApiError when it is not said where a browser would have to come back to."""
    if arguments.values["returnurl"] is None and not arguments.flag("continue"):
        raise at_least_one_required([arguments.full("continue"), arguments.full("returnurl")])


def passed(name: str) -> dict[str, Tree]:
    """The node of a login that succeeded: status PASS."""
    return {"status": "PASS", "username": name}


def failed(code: str, message: str) -> dict[str, Tree]:
    """The node of a login that did not: status FAIL. It is no error of the API."""
    return {"status": "FAIL", "message": message, "messagecode": code, "canpreservestate": False}
