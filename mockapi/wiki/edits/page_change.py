"""A change of one page in full: what a reader who follows the wiki needs to describe it without asking again.

A write is one change, or several in the order in which they happen: a move that leaves a redirect is `move` and the
redirect's `create`, and before them the `delete` of a redirect that made room. A visibility change is one of the
current revision: those of earlier revisions change nothing that readers of the page see. An edit that saves nothing is
no change.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from mockapi.wiki.catalog import CatalogPage, HiddenPart, Located
from mockapi.wiki.facts import Facts, facts
from mockapi.wiki.people import Author
from mockapi.wiki.title import InvalidTitle, Title
from mockapi.wiki.wiki import Wiki, revision_of

ChangeKind = Literal["create", "edit", "move", "delete", "undelete", "visibility"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeUser:
    """`id` is 0 for a user without an account; `groups` are all that the user is in, the implicit ones too."""

    name: str
    id: int
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePlace:
    """`title` is the full one, with its namespace and underscores."""

    namespace_id: int
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePage(ChangePlace):
    """A page after the change. `redirect` is where it leads; `revision_count` counts all its revisions."""

    page_id: int
    content_model: str
    revision_count: int
    redirect: ChangePlace | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRevision:
    """A revision with all that is known of it, also what is `hidden` from readers. `parent_id` is 0 for the first.

    `size` and `sha1` (40 hex digits) are of the source in UTF-8. `content_rev_id` is the revision that brought the
    source in: an earlier one after a move.
    """

    rev_id: int
    parent_id: int
    content_rev_id: int
    timestamp: datetime
    user: ChangeUser
    comment: str
    minor: bool
    size: int
    sha1: str
    hidden: tuple[HiddenPart, ...] = ()
    suppressed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChange:
    """`page` and its current `revision` are as they stand after the change, `at` is its time by the wiki's clock.
    `request_id` is that of the request which made it, the client's if it sent one.

    `reason` is what was said about a move, a deletion or a restoration, None for the other kinds. `before` is the
    revision that was current before an edit or a move. For a visibility change and a suppressed deletion it is the same
    revision as it was visible before.
    """

    kind: ChangeKind
    wiki: str
    domain: str
    at: datetime
    request_id: str
    page: ChangePage
    revision: ChangeRevision
    performer: ChangeUser
    reason: str | None = None
    before: ChangeRevision | None = None
    place_before: ChangePlace | None = None
    created_redirect: ChangePage | None = None


Record = Callable[[PageChange], None]
"""Takes each change when it has happened."""


def record_nothing(_change: PageChange) -> None:
    """For a wiki without a follower."""


@dataclass(frozen=True)
class Describer:
    """Makes changes of a wiki's pages; `groups_of` gives all groups of a user."""

    wiki: Wiki
    seed: int
    groups_of: Callable[[Author], tuple[str, ...]]

    def change(
        self,
        kind: ChangeKind,
        page: CatalogPage,
        *,
        at: datetime,
        request_id: str,
        by: Author,
        reason: str | None = None,
        before: Located | None = None,
        created_redirect: CatalogPage | None = None,
    ) -> PageChange:
        """The change that led to `page`; `before` is what stood there."""
        moved = before is not None and kind == "move"
        return PageChange(
            kind=kind,
            wiki=self.wiki.name,
            domain=self.wiki.domain,
            at=at,
            request_id=request_id,
            page=self._page(page),
            revision=self._revision(self.wiki.latest(page)),
            performer=self._user(by),
            reason=reason,
            before=None if before is None else self._revision(before),
            place_before=_place(self.wiki.title_of(before.page)) if moved and before is not None else None,
            created_redirect=None if created_redirect is None else self._page(created_redirect),
        )

    def _page(self, page: CatalogPage) -> ChangePage:
        title = self.wiki.title_of(page)
        return ChangePage(
            page_id=page.page_id,
            namespace_id=title.namespace_id,
            title=title.dbkey,
            content_model=page.content_model,
            revision_count=len(page.revisions),
            redirect=self._redirect(page),
        )

    def _redirect(self, page: CatalogPage) -> ChangePlace | None:
        target = self._facts(self.wiki.latest(page)).redirect_target
        try:
            return None if target is None else _place(self.wiki.title(target))
        except InvalidTitle:
            return None

    def _revision(self, located: Located) -> ChangeRevision:
        revision, known = located.revision, self._facts(located)
        return ChangeRevision(
            rev_id=revision.rev_id,
            parent_id=revision.parent_id,
            content_rev_id=self._origin(known),
            timestamp=revision.timestamp,
            user=self._user(Author(known.user, known.user_id)),
            comment=known.comment,
            minor=known.minor,
            size=known.size,
            sha1=known.sha1,
            hidden=revision.hidden,
            suppressed=revision.suppressed,
        )

    def _origin(self, known: Facts) -> int:
        """A revision with the source of its parent has it from there."""
        page, revision = known.located.page, known.located.revision
        while (parent := revision_of(page, revision.parent_id)) is not None:
            if self._facts(Located(page, parent)).text != known.text:
                break
            revision = parent
        return revision.rev_id

    def _facts(self, located: Located) -> Facts:
        return facts(self.seed, located)

    def _user(self, by: Author) -> ChangeUser:
        return ChangeUser(name=by.name, id=by.id, groups=self.groups_of(by))


def _place(title: Title) -> ChangePlace:
    return ChangePlace(namespace_id=title.namespace_id, title=title.dbkey)
