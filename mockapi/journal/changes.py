"""What was changed by the control, when and by whom: so a verdict on a run can say that another client changed it.

It outlives worlds, as putting another one in place is such a change itself. What ends by itself (`ttl`, `times`) is
none.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

CHANGES_KEPT: Final = 1_000

Action = Literal[
    "populated", "reset", "added", "replaced", "removed", "switched on", "switched off", "emptied the journal"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlChange:
    """`n` counts changes from 1; `at` is an aware time. `rules` are the names of those it was made to, none where it
    was made to all of the mock. `client` is the peer's address, `author` what it called itself, empty for nothing.
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

    def note(self, action: Action, rules: Iterable[str] = (), *, client: str, author: str) -> None:
        """Call it after the change; `client` is the address, `author` who the client says it is."""
        self._revision += 1
        change = ControlChange(
            n=self._revision, at=self._now(), action=action, rules=tuple(rules), client=client, author=author
        )
        self._kept.append(change)
