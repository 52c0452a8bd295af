"""What comes of a write, in the words of the Action API, and why one is refused."""

from dataclasses import dataclass
from datetime import datetime


class WriteError(Exception):
    """A write that is refused: `code` and `english` are the Action API's error code and text."""

    def __init__(self, code: str, english: str) -> None:
        super().__init__(english)
        self.code = code
        self.english = english


@dataclass(frozen=True, slots=True, kw_only=True)
class EditResult:
    """An edit. `old_rev_id` is 0 for a new page; `new_rev_id` and `timestamp` are None when nothing changed."""

    page_id: int
    title: str
    content_model: str
    old_rev_id: int
    new_rev_id: int | None = None
    timestamp: datetime | None = None

    @property
    def new(self) -> bool:
        """True for the first revision of a page."""
        return self.old_rev_id == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveResult:
    """A move. `over_redirect`: a redirect made room at the new title."""

    redirect_created: bool
    over_redirect: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteResult:
    """A deletion; `reason` is the one given, or what MediaWiki says without one."""

    reason: str
    log_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HideResult:
    """What became of one revision; `refused` says why its visibility is as it was."""

    rev_id: int
    refused: WriteError | None = None
