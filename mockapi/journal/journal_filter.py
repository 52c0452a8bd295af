"""Which entries of the journal a client asks for."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from mockapi.journal.entry import Entry, status_key
from mockapi.wiki.title import reads_same


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalFilter:
    """All that is given must hold.

    `revision` is one of those a request was about; in `page` underscores are spaces; `path` is a shell glob, as in a
    rule; `status` is one, a class such as `5xx`, or `none`; `since` is the `n` of an entry: the later ones.
    """

    rule: str | None = None
    key: str | None = None
    revision: int | None = None
    request_id: str | None = None
    page: str | None = None
    path: str | None = None
    status: str | None = None
    since: int | None = None

    def holds(self, entry: Entry) -> bool:
        """Whether all that is given fits `entry`; without anything given it always does."""
        return (
            (self.since is None or entry.n > self.since)
            and (self.rule is None or self.rule in entry.rules)
            and (self.key is None or self.key == entry.key)
            and (self.revision is None or self.revision == entry.revision or self.revision in entry.revisions)
            and (self.request_id is None or self.request_id == entry.request_id)
            and (self.page is None or (entry.page is not None and reads_same(self.page, entry.page)))
            and (self.path is None or fnmatchcase(entry.path, self.path))
            and (self.status is None or _status_fits(self.status, entry))
        )


ALL = JournalFilter()
"""Every entry."""


def _status_fits(wanted: str, entry: Entry) -> bool:
    status = status_key(entry)
    return status[0] == wanted[0] if wanted.endswith("xx") else status == wanted
