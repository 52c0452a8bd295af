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

Write = Callable[[Overlay, Wiki, Author], object]


@pytest.fixture
def changes() -> list[PageChange]:
    return []


@pytest.fixture
def followed(wiki: Wiki, clock: Any, changes: list[PageChange]) -> Overlay:
    return Overlay(wiki, 1, clock, record=changes.append, groups_of=lambda author: IMPLICIT if author.id else ("*",))


def edit(title: str, text: str) -> Write:
    return lambda overlay, wiki, by: overlay.edit(wiki.title(title), text, by=by, summary=f"to {text}")


def move(title: str, target: str, *, noredirect: bool = False) -> Write:
    return lambda overlay, wiki, by: overlay.move(
        wiki.title(title), wiki.title(target), by=by, reason="why", noredirect=noredirect
    )


def delete(title: str, *, suppress: bool = False) -> Write:
    return lambda overlay, wiki, by: overlay.delete(wiki.title(title), by=by, reason="why", suppress=suppress)


def undelete(title: str) -> Write:
    return lambda overlay, wiki, by: overlay.undelete(wiki.title(title), by=by, reason="why")


def hide(rev_id: int, *parts: Any, suppress: bool | None = None) -> Write:
    return lambda overlay, wiki, by: overlay.hide([rev_id], parts, by=by, suppress=suppress)


MADE = (edit("Quay", "one"),)
TWICE = (*MADE, edit("Quay", "two"))
HIDDEN_PARTS = ("text", "user", "comment")
FIRST, SECOND = 2 * 4096 + 1, 2 * 4096 + 2


@pytest.mark.parametrize(
    ("before", "write", "expected"),
    [
        ((), edit("Quay", "one"), [("create", "Quay", FIRST, None, None)]),
        (MADE, edit("Quay", "two"), [("edit", "Quay", SECOND, FIRST, None)]),
        (MADE, edit("Quay", "one"), []),
        (MADE, move("Quay", "Talk:Pier", noredirect=True), [("move", "Talk:Pier", SECOND, FIRST, "why")]),
        (
            MADE,
            move("Quay", "Old pier"),
            [("move", "Old_pier", SECOND, FIRST, "why"), ("create", "Quay", 3 * 4096 + 1, None, None)],
        ),
        (
            (*MADE, move("Quay", "Pier")),
            move("Pier", "Quay", noredirect=True),
            [
                ("delete", "Quay", 3 * 4096 + 1, None, "Deleted to make way for move from [[Pier]]"),
                ("move", "Quay", SECOND + 1, SECOND, "why"),
            ],
        ),
        (MADE, delete("Quay"), [("delete", "Quay", FIRST, None, "why")]),
        (MADE, delete("Quay", suppress=True), [("delete", "Quay", FIRST, FIRST, "why")]),
        ((*MADE, delete("Quay")), undelete("Quay"), [("undelete", "Quay", FIRST, None, "why")]),
        (MADE, hide(FIRST, "user"), [("visibility", "Quay", FIRST, FIRST, None)]),
        (MADE, hide(FIRST, "text"), []),
        (TWICE, hide(FIRST, "text"), []),
        ((*MADE, hide(FIRST, "user")), hide(FIRST, "user"), []),
        ((*MADE, hide(FIRST, "user")), hide(FIRST, suppress=True), [("visibility", "Quay", FIRST, FIRST, None)]),
    ],
)
def test_a_write_is_these_changes(
    wiki: Wiki,
    followed: Overlay,
    changes: list[PageChange],
    alice: Author,
    before: tuple[Write, ...],
    write: Write,
    expected: list[object],
) -> None:
    for earlier in before:
        earlier(followed, wiki, alice)
    changes.clear()
    write(followed, wiki, alice)
    assert [
        (
            change.kind,
            change.page.title,
            change.revision.rev_id,
            change.before and change.before.rev_id,
            change.reason,
        )
        for change in changes
    ] == expected


def test_a_change_has_all_of_page_and_revision(
    wiki: Wiki, followed: Overlay, changes: list[PageChange], alice: Author
) -> None:
    followed.edit(wiki.title("Quay"), "one ü", by=alice, summary="made")
    followed.edit(wiki.title("Quay"), "#REDIRECT [[Talk:Old pier]]", by=Author("192.0.2.7", 0), minor=True)
    created, edited = changes
    assert (created.wiki, created.domain) == ("testwiki", "test.example.org")
    revision = created.revision
    assert (revision.parent_id, revision.content_rev_id, revision.comment, revision.minor) == (0, FIRST, "made", False)
    assert (revision.size, len(revision.sha1)) == (6, 40)
    assert (revision.user.name, revision.user.id, revision.user.groups) == ("Alice", 2, IMPLICIT)
    assert (created.page.content_model, created.page.revision_count, created.page.redirect) == ("wikitext", 1, None)
    assert (edited.before, edited.page.revision_count) == (revision, 2)
    assert edited.page.redirect == ChangePlace(namespace_id=1, title="Talk:Old_pier")
    assert (edited.performer.name, edited.performer.id, edited.performer.groups) == ("192.0.2.7", 0, ("*",))
    assert edited.revision.minor


def test_a_move_keeps_the_source_of_an_earlier_revision(
    wiki: Wiki, followed: Overlay, changes: list[PageChange], alice: Author
) -> None:
    followed.edit(wiki.title("Quay"), "one", by=alice)
    followed.move(wiki.title("Quay"), wiki.title("Pier"), by=alice, noredirect=True)
    followed.move(wiki.title("Pier"), wiki.title("Talk:Pier"), by=alice)
    moved = changes[2]
    assert (moved.revision.rev_id, moved.revision.content_rev_id) == (FIRST + 2, FIRST)
    assert moved.place_before == ChangePlace(namespace_id=0, title="Pier")
    assert moved.created_redirect is not None
    assert (moved.created_redirect.page_id, moved.created_redirect.title) == (3, "Pier")
    assert changes[3].page == moved.created_redirect


def test_visibility_is_told_as_it_was_and_as_it_is(
    wiki: Wiki, followed: Overlay, changes: list[PageChange], alice: Author
) -> None:
    followed.edit(wiki.title("Quay"), "one", by=alice)
    followed.hide([FIRST], ["user", "comment"], by=alice, suppress=True)
    change = changes[-1]
    assert change.before is not None
    assert (change.before.hidden, change.before.suppressed) == ((), False)
    assert (change.revision.hidden, change.revision.suppressed) == (("user", "comment"), True)


def test_a_suppressed_deletion_hides_all_of_each_revision(
    wiki: Wiki, followed: Overlay, changes: list[PageChange], alice: Author
) -> None:
    followed.edit(wiki.title("Quay"), "one", by=alice)
    followed.edit(wiki.title("Quay"), "two", by=alice)
    followed.delete(wiki.title("Quay"), by=alice, suppress=True)
    (deleted,) = wiki.deleted(wiki.title("Quay"))
    assert {(revision.hidden, revision.suppressed) for revision in deleted.revisions} == {(HIDDEN_PARTS, True)}
    change = changes[-1]
    assert change.before is not None
    assert (change.before.hidden, change.before.suppressed) == ((), False)
    assert (change.revision.hidden, change.revision.suppressed) == (HIDDEN_PARTS, True)
    with pytest.raises(WriteError, match="in the top page") as refused:
        followed.undelete(wiki.title("Quay"), by=alice)
    assert refused.value.code == "undeleterevdel"
