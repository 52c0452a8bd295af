"""What somebody may have meant who wrote a name that does not exist."""

from collections.abc import Iterable
from difflib import get_close_matches

LIKE = 0.6
"""How much alike two names have to be, from 0 to 1."""


def nearest(name: str, known: Iterable[str], like: float = LIKE) -> str | None:
    """The known name that is most like it; None when none is."""
    return next(iter(get_close_matches(name, list(known), n=1, cutoff=like)), None)


def near_miss(name: str, known: Iterable[str]) -> str:
    """`did you mean 'size'?`, or else all there are: `there are: status, latency`."""
    names = list(known)
    near = nearest(name, names)
    return f"did you mean {near!r}?" if near else f"there are: {', '.join(names) or 'none'}"
