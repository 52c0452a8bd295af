"""Merges an edit into what others saved meanwhile, line by line, as MediaWiki does with diff3 (`wfMerge`).

base ──> mine      lines that both changed, or that touch: a conflict, unless both made the same of them
base ──> yours     all other changes: into the result
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from typing import Final

from mockapi.wiki.catalog import CatalogPage, CatalogRevision, Located
from mockapi.wiki.people import Author, author
from mockapi.wiki.timestamps import seconds
from mockapi.wiki.wiki import Wiki


@dataclass(frozen=True, slots=True)
class EditBase:
    """The revision that an edit changes: by id (`baserevid`), time (`basetimestamp`), both or neither.

    `timestamp` is to the second. As with MediaWiki's EditPage, an edit without a base never conflicts; by time alone an
    account does not conflict with itself, by id it does.
    """

    rev_id: int | None = None
    timestamp: datetime | None = None

    def is_latest(self, latest: CatalogRevision) -> bool:
        """Whether nothing was saved since, as far as the client says what it saw."""
        return self.rev_id in {None, latest.rev_id} and self.timestamp in {None, seconds(latest.timestamp)}

    def revision(self, wiki: Wiki, page: CatalogPage) -> Located | None:
        """The base, by id one of any page; None for one that there is not."""
        if self.rev_id is not None:
            return wiki.revision(self.rev_id)
        for revision in reversed(page.revisions):
            if seconds(revision.timestamp) == self.timestamp:
                return Located(page, revision)
        return None

    def is_followed_only_by(self, by: Author, seed: int, page: CatalogPage) -> bool:
        """Whether all revisions after the base's time are by one account."""
        since = self.timestamp
        if since is None or by.id == 0:
            return False
        later = (Located(page, revision) for revision in page.revisions if seconds(revision.timestamp) > since)
        return all(author(seed, located).id == by.id for located in later)


LATEST: Final = EditBase()
"""The base of an edit that names none."""


_WHITE_SPACE: Final = " \t\n\r\0\x0b"


@dataclass(frozen=True, slots=True)
class _Hunk:
    """The lines `start` to `end` of the base are replaced by the lines `first` to `last` of the other text."""

    start: int
    end: int
    first: int
    last: int


def merge(base: str, mine: str, yours: str) -> str | None:
    """`yours` with the changes that `mine` makes to `base`; None for a conflict. White space at the end goes."""
    if mine == yours or base == mine:
        return yours
    if base == yours:
        return mine
    old, own, other = (text.rstrip(_WHITE_SPACE).split("\n") for text in (base, mine, yours))
    merged: list[str] = []
    done = 0
    for ours, theirs in _groups(_hunks(old, own), _hunks(old, other)):
        start = min(hunk.start for hunk in (*ours, *theirs))
        end = max(hunk.end for hunk in (*ours, *theirs))
        made = [_replacement(lines, hunks, start, end) for lines, hunks in ((own, ours), (other, theirs)) if hunks]
        if len(made) == 2 and made[0] != made[1]:
            return None
        merged += [*old[done:start], *made[0]]
        done = end
    return "\n".join([*merged, *old[done:]])


def _hunks(old: Sequence[str], new: Sequence[str]) -> list[_Hunk]:
    codes = SequenceMatcher(None, old, new).get_opcodes()
    return [_Hunk(start, end, first, last) for tag, start, end, first, last in codes if tag != "equal"]


def _groups(ours: list[_Hunk], theirs: list[_Hunk]) -> Iterator[tuple[list[_Hunk], list[_Hunk]]]:
    """Hunks of both sides that overlap or touch, with one another or by way of others."""
    end = -1
    group: tuple[list[_Hunk], list[_Hunk]] = ([], [])
    for hunk, side in sorted(
        [*((hunk, 0) for hunk in ours), *((hunk, 1) for hunk in theirs)], key=lambda pair: (pair[0].start, pair[0].end)
    ):
        if hunk.start > end and any(group):
            yield group
            group = ([], [])
        group[side].append(hunk)
        end = max(end, hunk.end)
    if any(group):
        yield group


def _replacement(lines: Sequence[str], hunks: Sequence[_Hunk], start: int, end: int) -> Sequence[str]:
    """What the lines `start` to `end` of the base have become on a side with `hunks` among them."""
    before, behind = hunks[0], hunks[-1]
    return lines[before.first - (before.start - start) : behind.last + (end - behind.end)]
