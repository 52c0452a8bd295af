"""Which revision an edit says it changes, and whether others have saved one since.

As MediaWiki's EditPage has it (`internalAttemptSavePrivate`): a client names the base by its id (`baserevid`, REST's
`latest.id`), by its time (`basetimestamp`), or not at all, which never conflicts. By time alone an account does not
conflict with itself; by id it does.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mockapi.wiki.catalog import CatalogPage, CatalogRevision
from mockapi.wiki.located import Located
from mockapi.wiki.moment import seconds
from mockapi.wiki.people import Author, author
from mockapi.wiki.wiki import Wiki


@dataclass(frozen=True, slots=True)
class EditBase:
    """By id, time, both or neither; `timestamp` is to the second."""

    rev_id: int | None = None
    timestamp: datetime | None = None

    def is_latest(self, latest: CatalogRevision) -> bool:
        """Whether nothing was saved since, as far as the client says what it saw."""
        return self.rev_id in {None, latest.rev_id} and self.timestamp in {None, seconds(latest.timestamp)}

    def revision(self, wiki: Wiki, page: CatalogPage) -> Located | None:
        """The base, by id one of any page; None for one that there is not."""
        if self.rev_id is not None:
            return wiki.revision(self.rev_id)
        found = (one for one in reversed(page.revisions) if seconds(one.timestamp) == self.timestamp)
        return next((Located(page, one) for one in found), None)

    def is_followed_only_by(self, by: Author, seed: int, page: CatalogPage) -> bool:
        """Whether all revisions after the base's time are by one account."""
        since = self.timestamp
        later = [one for one in page.revisions if since is not None and seconds(one.timestamp) > since]
        return since is not None and by.id != 0 and all(author(seed, Located(page, one)).id == by.id for one in later)


LATEST: Final = EditBase()
"""The base of an edit that names none."""
