"""What each write tells those who follow the wiki."""

from collections.abc import Callable
from typing import Any

import pytest

from mockapi.wiki.accounts import IMPLICIT
from mockapi.wiki.edits.overlay import Overlay
from mockapi.wiki.edits.page_change import ChangePlace, PageChange
from mockapi.wiki.edits.results import WriteError
from mockapi.wiki.people import Author
from mockapi.wiki.wiki import Wiki
from tests.unit.mockapi.wiki.conftest import SteppingClock

ALICE, VISITOR = Author("Alice", 2), Author("192.0.2.7", 0)
ALL_PARTS = ("text", "user", "comment")
FIRST, SECOND = 2 * 4096 + 1, 2 * 4096 + 2
OF_REDIRECT = 3 * 4096 + 1
MAKE_WAY = "Deleted to make way for move from [[Pier]]"


class FollowedWiki:
    """A wiki, writes to it, and the changes that they recorded."""

    def __init__(self) -> None:
        self.wiki = Wiki("testwiki", "test.example.org")
        self.changes: list[PageChange] = []
        self.overlay = Overlay(self.wiki, 1, SteppingClock(), record=self.changes.append, groups_of=self.groups_of)

    @staticmethod
    def groups_of(author: Author) -> tuple[str, ...]:
        return IMPLICIT if author.id else ("*",)

    def edit(self, text: str, *, by: Author = ALICE, **more: Any) -> None:
        self.overlay.edit(self.wiki.title("Quay"), text, by=by, **more)

    def move(self, title: str, target: str, **more: Any) -> None:
        self.overlay.move(self.wiki.title(title), self.wiki.title(target), by=ALICE, reason="why", **more)

    def delete(self, **more: Any) -> None:
        self.overlay.delete(self.wiki.title("Quay"), by=ALICE, reason="why", **more)

    def undelete(self) -> None:
        self.overlay.undelete(self.wiki.title("Quay"), by=ALICE, reason="why")

    def hide(self, *parts: Any, **more: Any) -> None:
        self.overlay.hide([FIRST], parts, by=ALICE, **more)


Write = Callable[[FollowedWiki], None]
WRITES: dict[str, tuple[list[Write], list[tuple[object, ...]]]] = {
    # the writes after the first edit, and what the last one recorded
    "an edit": ([lambda it: it.edit("two")], [("edit", "Quay", SECOND, FIRST, None)]),
    "an edit without a change": ([lambda it: it.edit("one")], []),
    "a move": (
        [lambda it: it.move("Quay", "Old pier")],
        [("move", "Old_pier", SECOND, FIRST, "why"), ("create", "Quay", OF_REDIRECT, None, None)],
    ),
    "a move without a redirect": (
        [lambda it: it.move("Quay", "Talk:Pier", noredirect=True)],
        [("move", "Talk:Pier", SECOND, FIRST, "why")],
    ),
    "a move back over the redirect": (
        [lambda it: it.move("Quay", "Pier"), lambda it: it.move("Pier", "Quay", noredirect=True)],
        [("delete", "Quay", OF_REDIRECT, None, MAKE_WAY), ("move", "Quay", SECOND + 1, SECOND, "why")],
    ),
    "a deletion": ([lambda it: it.delete()], [("delete", "Quay", FIRST, None, "why")]),
    "a suppressed deletion": ([lambda it: it.delete(suppress=True)], [("delete", "Quay", FIRST, FIRST, "why")]),
    "an undeletion": ([lambda it: it.delete(), lambda it: it.undelete()], [("undelete", "Quay", FIRST, None, "why")]),
    "a hidden author": ([lambda it: it.hide("user")], [("visibility", "Quay", FIRST, FIRST, None)]),
    "the current text, which cannot be hidden": ([lambda it: it.hide("text")], []),
    "a hidden text of an earlier revision": ([lambda it: it.edit("two"), lambda it: it.hide("text")], []),
    "an author hidden twice": ([lambda it: it.hide("user"), lambda it: it.hide("user")], []),
    "a hidden author suppressed": (
        [lambda it: it.hide("user"), lambda it: it.hide(suppress=True)],
        [("visibility", "Quay", FIRST, FIRST, None)],
    ),
}


@pytest.fixture
def followed() -> FollowedWiki:
    """With one edit, which made the page Quay."""
    wiki = FollowedWiki()
    wiki.edit("one", summary="made")
    return wiki


def recorded(wiki: FollowedWiki) -> list[tuple[object, ...]]:
    return [
        (one.kind, one.page.title, one.revision.rev_id, one.before and one.before.rev_id, one.reason)
        for one in wiki.changes
    ]


def test_the_first_edit_creates_the_page(followed: FollowedWiki) -> None:
    assert recorded(followed) == [("create", "Quay", FIRST, None, None)]


@pytest.mark.parametrize(("writes", "expected"), WRITES.values(), ids=WRITES)
def test_a_write_is_these_changes(
    followed: FollowedWiki, writes: list[Write], expected: list[tuple[object, ...]]
) -> None:
    for write in writes:
        followed.changes.clear()
        write(followed)
    assert recorded(followed) == expected


def test_a_change_has_all_of_page_and_revision(followed: FollowedWiki) -> None:
    followed.edit("#REDIRECT [[Talk:Old pier]] ü", by=VISITOR, minor=True)
    created, edited = followed.changes
    assert (created.wiki, created.domain) == ("testwiki", "test.example.org")
    revision = created.revision
    assert (revision.parent_id, revision.content_rev_id, revision.comment, revision.minor) == (0, FIRST, "made", False)
    assert (revision.size, len(revision.sha1), edited.revision.size) == (3, 40, 30)
    assert (revision.user.name, revision.user.id, revision.user.groups) == ("Alice", 2, IMPLICIT)
    assert (created.page.content_model, created.page.revision_count, created.page.redirect) == ("wikitext", 1, None)
    assert (edited.before, edited.page.revision_count) == (revision, 2)
    assert edited.page.redirect == ChangePlace(namespace_id=1, title="Talk:Old_pier")
    assert (edited.performer.name, edited.performer.id, edited.performer.groups) == ("192.0.2.7", 0, ("*",))
    assert edited.revision.minor


def test_a_move_keeps_the_source_of_an_earlier_revision(followed: FollowedWiki) -> None:
    followed.move("Quay", "Pier", noredirect=True)
    followed.move("Pier", "Talk:Pier")
    _, _, moved, created = followed.changes
    assert (moved.revision.rev_id, moved.revision.content_rev_id) == (FIRST + 2, FIRST)
    assert moved.place_before == ChangePlace(namespace_id=0, title="Pier")
    assert moved.created_redirect is not None
    assert (moved.created_redirect.page_id, moved.created_redirect.title) == (3, "Pier")
    assert created.page == moved.created_redirect


@pytest.mark.parametrize(
    ("write", "parts"),
    [
        (lambda it: it.hide("user", "comment", suppress=True), ("user", "comment")),
        (lambda it: it.delete(suppress=True), ALL_PARTS),
    ],
    ids=["hidden parts", "a suppressed deletion"],
)
def test_visibility_is_told_as_it_was_and_as_it_is(
    followed: FollowedWiki, write: Write, parts: tuple[str, ...]
) -> None:
    write(followed)
    change = followed.changes[-1]
    assert change.before is not None
    assert (change.before.hidden, change.before.suppressed) == ((), False)
    assert (change.revision.hidden, change.revision.suppressed) == (parts, True)


def test_a_suppressed_deletion_hides_all_of_each_revision(followed: FollowedWiki) -> None:
    followed.edit("two")
    followed.delete(suppress=True)
    (deleted,) = followed.wiki.deleted(followed.wiki.title("Quay"))
    assert {(revision.hidden, revision.suppressed) for revision in deleted.revisions} == {(ALL_PARTS, True)}
    with pytest.raises(WriteError, match="in the top page") as refused:
        followed.undelete()
    assert refused.value.code == "undeleterevdel"
