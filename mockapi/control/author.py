"""Notes changes of the control with who asked for them."""

from collections.abc import Iterable

from fastapi import Request

from mockapi.journal.changes import Action, ControlChanges

AUTHOR = "X-Changed-By"
"""The header by which a client names itself; without it, its User-Agent does."""


def note(changes: ControlChanges, request: Request, action: Action, rules: Iterable[str] = ()) -> None:
    """The author is the request's `X-Changed-By`, else its User-Agent."""
    headers = request.headers
    author = headers.get(AUTHOR) or headers.get("User-Agent", "")
    changes.note(action, rules, client=request.client.host if request.client else "", author=author)
