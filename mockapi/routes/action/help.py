"""`action=help`, which is also what a request without an action asks for: a page for people."""

from typing import Final

from mockapi.routes.action.call import Call
from mockapi.routes.action.module import Action
from mockapi.routes.action.parameters import Arguments, Kind, Parameter

NAME: Final = "help"

PARAMETERS: Final = (
    Parameter("modules", several=True),
    *(Parameter(name, Kind.FLAG) for name in ("submodules", "recursivesubmodules", "wrap", "toc")),
)


async def run(call: Call, arguments: Arguments) -> None:
    """Adds nothing: the page takes the place of the result."""


ACTION: Final = Action(NAME, PARAMETERS, run)
