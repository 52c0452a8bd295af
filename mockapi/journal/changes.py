"""What the control changed, when and for whom; by it a verdict can say that another client interfered.

It outlives worlds, since replacing one is a change too. The end of a rule by `ttl` or `times` is not a change.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from starlette.requests import Request

AUTHOR: Final = "X-Changed-By"
CHANGES_KEPT: Final = 1_000

Action = Literal[
    "populated", "reset", "added", "replaced", "removed", "switched on", "switched off", "emptied the journal"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlChange:
    """`n` counts changes from 1; `at` is an aware time. `rules` names the changed rules, none for a change of the whole
    mock. `client` is the peer's address, `author` what it called itself, empty for nothing.
    """

    n: int
    at: datetime
    action: Action
    rules: tuple[str, ...] = ()
    client: str = ""
    author: str = ""


class ControlChanges:
    """`now` gives aware times; the newest `CHANGES_KEPT` are kept, and all are counted."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._kept: deque[ControlChange] = deque(maxlen=CHANGES_KEPT)
        self._revision = 0

    @property
    def revision(self) -> int:
        """How many changes there were since the mock started."""
        return self._revision

    @property
    def kept(self) -> tuple[ControlChange, ...]:
        """The newest `CHANGES_KEPT`, newest last."""
        return tuple(self._kept)

    def note(self, request: Request, action: Action, rules: Iterable[str] = ()) -> None:
        """Call it after the change. A request without the header `AUTHOR` is by its User-Agent."""
        self._revision += 1
        change = ControlChange(
            n=self._revision,
            at=self._now(),
            action=action,
            rules=tuple(rules),
            client=request.client.host if request.client else "",
            author=request.headers.get(AUTHOR) or request.headers.get("User-Agent", ""),
        )
        self._kept.append(change)
