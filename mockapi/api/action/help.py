"""`action=help`, which is also what a request without an action asks for: a page for people."""

from typing import Final

from mockapi.api.action.call import Call
from mockapi.api.action.module import Action
from mockapi.api.action.parameters import Arguments, Kind, Parameter

NAME: Final = "help"

PARAMETERS: Final = (
    Parameter("modules", several=True),
    *(Parameter(name, Kind.FLAG) for name in ("submodules", "recursivesubmodules", "wrap", "toc")),
)


async def run(call: Call, arguments: Arguments) -> None:
    """Adds nothing: the page takes the place of the result."""


ACTION: Final = Action(NAME, PARAMETERS, run)
