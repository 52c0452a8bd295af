"""The existing name that the writer of an unknown one most likely meant."""

from collections.abc import Iterable
from difflib import get_close_matches

RENAMED = {
    "unknown_while": "not_found_grace",
    "duration": "for",
    "lifetime_ratio": "restart_progress",
    "retries": "total_requests",
    "retry": "total_requests",
    "max_retries": "total_requests",
    "max_attempts": "total_requests",
    "attempts": "total_requests",
    "brokers": "bootstrap_servers",
    "copy": "fork",
}
"""Names that were in use before, or come to mind first, and what each is called: no likeness leads from one to the
other.
"""

LIKE = 0.6
"""How much alike two names have to be, from 0 to 1."""
LIKE_BESIDE_OWN = 0.75
"""The same where an unknown name may also be one of the user's own."""


def nearest(name: str, known: Iterable[str], like: float = LIKE) -> str | None:
    """The known name it was renamed to, or else the most similar; None without either."""
    names = list(known)
    if (renamed := RENAMED.get(name)) in names:
        return renamed
    folded = {one.casefold(): one for one in names}
    return folded.get(name.casefold()) or next(iter(get_close_matches(name, names, n=1, cutoff=like)), None)


def near_miss(name: str, known: Iterable[str]) -> str:
    """`did you mean 'size'?`, or else all there are: `there are: status, latency`."""
    names = list(known)
    near = nearest(name, names)
    return f"did you mean {near!r}?" if near else f"there are: {', '.join(names) or 'none'}"
