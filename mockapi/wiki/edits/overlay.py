"""Writes to one wiki, kept in memory: a test aid, so that tests can make pages the ordinary way.

    edit    ─> revision n + 1 of the page, or a new page: highest page id + 1, revision n = 1
    move    ─> the page takes its id and revisions to the new title; a redirect page is left at the old one
    delete  ─> the page's revisions are unknown until undelete; suppressed, they stay unknown
    hide    ─> parts of a revision are withheld from readers

Ids depend on the order of writes alone: rev_id = page_id · 4096 + n holds for written pages too. Times are the clock's,
to the second, and never go back within a page. Who may write is for the caller to know. What was written is recorded
as changes of pages, see `page_change`.
"""

from collections.abc import Callable, Iterable
from copy import copy
from datetime import datetime
from itertools import count
from typing import Final, Self

from mockapi.wiki.catalog import REVISIONS_PER_PAGE, CatalogPage, CatalogRevision, HiddenPart, Located
from mockapi.wiki.edits import source, summaries
from mockapi.wiki.edits.merge import LATEST, EditBase, merge
from mockapi.wiki.edits.page_change import ChangeKind, Describer, Record, record_nothing
from mockapi.wiki.edits.results import DeleteResult, EditResult, HideResult, MoveResult, WriteError
from mockapi.wiki.facts import Facts, facts
from mockapi.wiki.people import Author, author
from mockapi.wiki.redirect import redirect_to
from mockapi.wiki.timestamps import seconds
from mockapi.wiki.title import Title
from mockapi.wiki.wiki import Wiki

Section = Callable[[str, str], str | None]
"""Gives a source with a text in place of one section; None for a source without that section."""

_PARTS: Final[tuple[HiddenPart, ...]] = ("text", "user", "comment")


class Overlay:
    """The writes to `wiki`. To be used from one event loop; each write happens whole or not at all."""

    def __init__(
        self,
        wiki: Wiki,
        seed: int,
        now: Callable[[], datetime],
        *,
        record: Record = record_nothing,
        groups_of: Callable[[Author], tuple[str, ...]] = lambda _author: (),
    ) -> None:
        """`record` gets each change when it has happened, with the groups that `groups_of` gives."""
        self._wiki = wiki
        self._seed = seed
        self._now = now
        self._record_change = record
        self._describer = Describer(wiki, seed, groups_of)
        self._log_ids = count(1)
        self._request_id = ""

    def for_request(self, request_id: str) -> Self:
        """The same wiki's, for the writes of one request: their changes have its id."""
        overlay = copy(self)
        overlay._request_id = request_id  # noqa: SLF001 - of this class
        return overlay

    def edit(
        self,
        title: Title,
        text: str | None = None,
        *,
        by: Author,
        prepend: str = "",
        append: str = "",
        section_title: str | None = None,
        summary: str = "",
        minor: bool = False,
        content_model: str | None = None,
        base: EditBase = LATEST,
        into: Section | None = None,
        createonly: bool = False,
        nocreate: bool = False,
    ) -> EditResult:
        """Saves `text` (None: what is there, between `prepend` and `append`) as the page's new revision.

        `section_title` adds the text as a new section below that heading; `into` puts it into a source, in place of the
        section that it is of. What was saved since `base` is merged, or a conflict. Raises WriteError.
        """
        page = self._existing(title)
        if page is None and nocreate:
            raise _missing_title()
        if page is not None and createonly:
            raise WriteError("articleexists", "The page you tried to create has been created already.")
        before = None if page is None else self._facts(page)
        model = content_model or (page.content_model if page else source.content_model_of(title))
        old = before.text if before else ""
        new = prepend + (old if text is None else text) + append
        if section_title is not None:
            new = _with_section(old, section_title, prepend + (text or "") + append)
            summary = summary or summaries.section_summary(section_title)
        sent = source.received(new)
        if before is not None and self._is_conflict(base, before, by, section_title, summary, of_section=bool(into)):
            sent = self._merged(base, before, sent, model, into)
        else:
            sent = _whole(into, old, sent)
        new = source.saved(sent, model, by, seconds(self._now()))
        if page is not None and before is not None and (new, model) == (before.text, page.content_model):
            return EditResult(
                page_id=page.page_id, title=title.text, content_model=model, old_rev_id=page.revisions[-1].rev_id
            )
        comment = summaries.shorten(summary) or summaries.edit_summary(self._wiki, model, before, sent)
        written = self._save(page, title, new, by, comment, model=model, minor=minor and page is not None)
        self._record("create" if page is None else "edit", written.page, by=by, before=page)
        return EditResult(
            page_id=written.page.page_id,
            title=title.text,
            content_model=model,
            old_rev_id=page.revisions[-1].rev_id if page else 0,
            new_rev_id=written.revision.rev_id,
            timestamp=written.revision.timestamp,
        )

    def move(
        self, title: Title, target: Title, *, by: Author, reason: str = "", noredirect: bool = False
    ) -> MoveResult:
        """Gives the page of `title` the title `target`. Raises WriteError, also when a page is in the way.

        A redirect with a single revision that leads to `title` makes room.
        """
        page = self._wiki.page(title)
        if page is None:
            raise _missing_title()
        if title == target:
            raise WriteError("selfmove", "The title is the same; cannot move a page over itself.")
        if not target.can_exist:
            text = f'Cannot move pages into namespace "{target.namespace_name}".'
            raise WriteError("immobile-target-namespace", text)
        in_the_way = self._existing(target)
        if in_the_way is not None:
            self._refuse_unless_redirect_to(title, in_the_way, target)
        model = page.content_model
        leads = None if noredirect else redirect_to(target, model, self._wiki.server)
        comment = summaries.move_summary(
            by.name, title.text, target.text, reason, over_redirect=in_the_way is not None, redirect=leads is not None
        )
        self._refuse_full(page)
        if leads is not None:
            self._refuse_no_more_pages()
        if in_the_way is not None:
            self._put_deleted(in_the_way, by, f"Deleted to make way for move from [[{title.text}]]")
        moved = page.model_copy(update={"namespace_id": target.namespace_id, "title": target.text})
        # MediaWiki marks a move in the page's history by a revision with the same text.
        written = self._save(moved, target, self._facts(page).text, by, comment, model=model, minor=True).page
        redirect = None if leads is None else self._save(None, title, leads, by, comment, model=model).page
        self._record("move", written, by=by, reason=reason, before=page, created_redirect=redirect)
        if redirect is not None:
            self._record("create", redirect, by=by)
        return MoveResult(redirect_created=leads is not None, over_redirect=in_the_way is not None)

    def delete(self, title: Title, *, by: Author, reason: str | None = None, suppress: bool = False) -> DeleteResult:
        """Takes the page away from readers. `suppress` hides all of its revisions from administrators too. Raises
        WriteError.
        """
        page = self._existing(title)
        if page is None:
            raise _missing_title()
        if reason is None:
            authors = {author(self._seed, Located(page, revision)).name for revision in page.revisions}
            reason = summaries.deletion_summary(self._facts(page), authors)
        self._put_deleted(page, by, reason, suppress=suppress)
        return DeleteResult(reason=reason, log_id=next(self._log_ids))

    def undelete(self, title: Title, *, by: Author, reason: str = "") -> int:
        """Brings back the page of that title that was deleted last, with its id; returns how many revisions it has.

        Raises WriteError when there is none, when its current source is hidden, as after a suppressed deletion, and,
        other than MediaWiki, when a new page has taken its place.
        """
        deleted = self._wiki.deleted(title)
        if not deleted or self._existing(title) is not None:
            raise WriteError(
                "cantundelete",
                "Couldn't undelete: the requested revisions may not exist, or may have been undeleted already.",
            )
        if "text" in deleted[-1].revisions[-1].hidden:
            raise WriteError(
                "undeleterevdel",
                "Undeletion will not be performed if it will result in the top page or file revision being partially "
                "deleted.\nIn such cases, you must uncheck or unhide the newest deleted revisions.",
            )
        restored = deleted[-1].model_copy(update={"deleted": False})
        self._wiki.put(restored)
        self._record("undelete", restored, by=by, reason=reason)
        return len(deleted[-1].revisions)

    def hide(
        self,
        rev_ids: Iterable[int],
        hide: Iterable[HiddenPart] = (),
        *,
        by: Author,
        show: Iterable[HiddenPart] = (),
        suppress: bool | None = None,
    ) -> tuple[HideResult, ...]:
        """Withholds the parts `hide` of revisions from readers and gives back the parts `show`.

        `suppress` True hides from administrators too, None leaves that as it is. What is refused is refused for its
        revision alone: an unknown one, and the text of a current one.
        """
        hidden, shown = frozenset(hide), frozenset(show)
        return tuple(self._hide_of(rev_id, hidden, shown, suppress, by) for rev_id in rev_ids)

    def _hide_of(
        self, rev_id: int, hide: frozenset[HiddenPart], show: frozenset[HiddenPart], suppress: bool | None, by: Author
    ) -> HideResult:
        located = self._wiki.revision(rev_id)
        if located is None:
            refused = WriteError(
                "revdelete-modify-missing", f"Error modifying item ID {rev_id}: It is missing from the database!"
            )
            return HideResult(rev_id=rev_id, refused=refused)
        page, revision = located.page, located.revision
        if "text" in hide and revision == page.revisions[-1]:
            at = revision.timestamp
            refused = WriteError(
                "revdelete-hide-current",
                f"Error hiding the item dated {at.day} {at:%B %Y}, {at:%H:%M}: "
                "This is the current revision. It cannot be hidden.",
            )
            return HideResult(rev_id=rev_id, refused=refused)
        parts = tuple(part for part in _PARTS if part in hide or (part in revision.hidden and part not in show))
        changed = revision.model_copy(
            update={
                "hidden": parts,
                "suppressed": bool(parts) and (revision.suppressed if suppress is None else suppress),
            }
        )
        revisions = tuple(changed if known.rev_id == rev_id else known for known in page.revisions)
        written = page.model_copy(update={"revisions": revisions})
        self._wiki.put(written)
        if revision == page.revisions[-1] and changed != revision:
            self._record("visibility", written, by=by, before=page)
        return HideResult(rev_id=rev_id)

    def _put_deleted(self, page: CatalogPage, by: Author, reason: str, *, suppress: bool = False) -> None:
        deleted = page.model_copy(update={"deleted": True})
        if suppress:
            hidden = {"hidden": _PARTS, "suppressed": True}
            revisions = tuple(revision.model_copy(update=hidden) for revision in page.revisions)
            deleted = deleted.model_copy(update={"revisions": revisions})
        self._wiki.put(deleted)
        self._record("delete", deleted, by=by, reason=reason, before=page if suppress else None)

    def _record(
        self,
        kind: ChangeKind,
        page: CatalogPage,
        *,
        by: Author,
        reason: str | None = None,
        before: CatalogPage | None = None,
        created_redirect: CatalogPage | None = None,
    ) -> None:
        self._record_change(
            self._describer.change(
                kind,
                page,
                at=self._now(),
                request_id=self._request_id,
                by=by,
                reason=reason,
                before=None if before is None else self._wiki.latest(before),
                created_redirect=created_redirect,
            )
        )

    def _existing(self, title: Title) -> CatalogPage | None:
        if not title.can_exist:
            raise WriteError("pagecannotexist", "Namespace doesn't allow actual pages.")
        return self._wiki.page(title)

    def _facts(self, page: CatalogPage) -> Facts:
        return facts(self._seed, self._wiki.latest(page))

    def _is_conflict(
        self, base: EditBase, before: Facts, by: Author, section_title: str | None, comment: str, *, of_section: bool
    ) -> bool:
        if base.is_latest(before.located.revision):
            return False
        if section_title is not None:
            # The same section once more is taken for a request that was sent twice.
            return (before.user, before.comment) == (by.name, summaries.shorten(comment))
        return of_section or not base.is_followed_only_by(by, self._seed, before.located.page)

    def _merged(self, base: EditBase, before: Facts, sent: str, model: str, into: Section | None) -> str:
        located = base.revision(self._wiki, before.located.page)
        seen = None if located is None else facts(self._seed, located)
        if located is None or seen is None or seen.text_hidden or located.page.content_model != model:
            raise _edit_conflict()
        mine = _whole(into, seen.text, sent)
        if located.revision == located.page.revisions[-1]:
            return mine
        merged = merge(seen.text, mine.replace("\r\n", "\n"), before.text)
        if merged is None:
            raise _edit_conflict()
        return merged

    def _refuse_unless_redirect_to(self, title: Title, page: CatalogPage, target: Title) -> None:
        leads_to = self._facts(page).redirect_target if len(page.revisions) == 1 else None
        if leads_to is None:
            raise WriteError(
                "articleexists",
                f"A page already exists at [[:{target.text}]], or the page name you have chosen is not valid. "
                "Please choose another name.",
            )
        if self._wiki.title(leads_to) != title:
            raise WriteError(
                "redirectexists",
                f"A redirect already exists at [[:{target.text}]], and it cannot be deleted automatically. "
                "Please choose another name.",
            )

    def _refuse_full(self, page: CatalogPage) -> None:
        if page.revisions[-1].number + 1 == REVISIONS_PER_PAGE:
            raise WriteError(
                "mock-page-full", f"Page {page.page_id} has all the {REVISIONS_PER_PAGE - 1} revisions it can have."
            )

    def _refuse_no_more_pages(self) -> None:
        if not self._wiki.has_room:
            raise WriteError("mock-wiki-full", "There are no page ids above the highest of the catalog.")

    def _save(
        self,
        page: CatalogPage | None,
        title: Title,
        text: str,
        by: Author,
        comment: str,
        *,
        model: str,
        minor: bool = False,
    ) -> Located:
        """Appends a revision to `page`, or makes the page."""
        if page is None:
            self._refuse_no_more_pages()
        else:
            self._refuse_full(page)
        last = page.revisions[-1] if page else None
        page_id = page.page_id if page else self._wiki.next_page_id
        at = seconds(self._now())
        revision = CatalogRevision(
            rev_id=last.rev_id + 1 if last else page_id * REVISIONS_PER_PAGE + 1,
            parent_id=last.rev_id if last else 0,
            timestamp=max(at, last.timestamp) if last else at,
            text=text,
            user=by.name,
            user_id=by.id,
            comment=comment,
            minor=minor,
        )
        saved = (
            page.model_copy(update={"revisions": (*page.revisions, revision), "content_model": model})
            if page
            else CatalogPage(
                wiki=self._wiki.name,
                domain=self._wiki.domain,
                page_id=page_id,
                namespace_id=title.namespace_id,
                title=title.text,
                revisions=(revision,),
                content_model=model,
            )
        )
        self._wiki.put(saved)
        return Located(saved, revision)


def _missing_title() -> WriteError:
    return WriteError("missingtitle", "The page you specified doesn't exist.")


def _edit_conflict() -> WriteError:
    return WriteError("editconflict", "Edit conflict.")


def _whole(into: Section | None, text: str, sent: str) -> str:
    """What is sent, in its place in `text` if it is a section. Raises WriteError where `text` has no such section."""
    whole = sent if into is None else into(text, sent)
    if whole is None:
        raise _edit_conflict()
    return whole


def _with_section(old: str, heading: str, text: str) -> str:
    section = f"== {heading} ==\n\n{text}" if heading else text
    return f"{old}\n\n{section}" if old else section
