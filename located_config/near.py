"""The existing name that the writer of an unknown one most likely meant."""

from collections.abc import Iterable
from difflib import get_close_matches

RENAMED = {"unknown_while": "not_found_grace"}
"""Names that were in use before, and what each is called now: no likeness leads from one to the other."""

LIKE = 0.6
"""How much alike two names have to be, from 0 to 1."""


def nearest(name: str, known: Iterable[str], like: float = LIKE) -> str | None:
    """The known name it was renamed to, or else the most similar; None without either."""
    names = list(known)
    renamed = RENAMED.get(name)
    return renamed if renamed in names else next(iter(get_close_matches(name, names, n=1, cutoff=like)), None)


def near_miss(name: str, known: Iterable[str]) -> str:
    """`did you mean 'size'?`, or else all there are: `there are: status, latency`."""
    names = list(known)
    near = nearest(name, names)
    return f"did you mean {near!r}?" if near else f"there are: {', '.join(names) or 'none'}"
