from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mockapi.wiki.catalog import REVISIONS_PER_PAGE, CatalogRevision, HiddenPart
from mockapi.wiki.edits.merge import EditBase
from mockapi.wiki.edits.overlay import Overlay
from mockapi.wiki.edits.results import WriteError
from mockapi.wiki.facts import Facts, facts
from mockapi.wiki.people import Author
from mockapi.wiki.wiki import Wiki
from tests.unit.mockapi.conftest import make_page
from tests.unit.mockapi.wiki.conftest import SEED, SteppingClock


def current(wiki: Wiki, title: str) -> Facts:
    page = wiki.page(wiki.title(title))
    assert page is not None
    return facts(SEED, wiki.latest(page))


def refused(call: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(WriteError) as error:
        call(*arguments, **named)
    return error.value.code


def test_an_edit_makes_a_page_and_then_changes_it(wiki: Wiki, overlay: Overlay, alice: Author) -> None:
    title = wiki.title("quay")
    made = overlay.edit(title, "one ", by=alice, summary="first", minor=True)
    assert (made.new, made.page_id, made.old_rev_id, made.new_rev_id) == (True, 2, 0, 8193)
    assert (made.title, made.content_model) == ("Quay", "wikitext")
    assert made.timestamp == datetime(2026, 11, 21, 8, 7, 32, tzinfo=UTC)
    known = current(wiki, "Quay")
    assert (known.text, known.user, known.user_id, known.comment, known.minor) == ("one", "Alice", 2, "first", False)

    changed = overlay.edit(title, "two", by=alice, minor=True)
    assert (changed.new, changed.old_rev_id, changed.new_rev_id) == (False, 8193, 8194)
    known = current(wiki, "Quay")
    assert (known.text, known.minor, known.located.revision.parent_id) == ("two", True, 8193)
    assert wiki.revision(8193) is not None


def test_the_same_text_is_no_edit(wiki: Wiki, overlay: Overlay, alice: Author) -> None:
    made = overlay.edit(wiki.title("Quay"), "one", by=alice)
    again = overlay.edit(wiki.title("Quay"), "one\n", by=alice)
    assert again.new_rev_id is None
    assert (again.old_rev_id, again.timestamp, again.new) == (made.new_rev_id, None, False)
    assert len(current(wiki, "Quay").located.page.revisions) == 1


def test_a_generated_page_can_be_edited(alice: Author, clock: SteppingClock) -> None:
    wiki = Wiki("enwiki", "en.wikipedia.org", [make_page(7)])
    overlay = Overlay(wiki, SEED, clock)
    before = current(wiki, "Old harbour").text
    assert overlay.edit(wiki.title("Old harbour"), before, by=alice).new_rev_id is None
    result = overlay.edit(wiki.title("Old harbour"), by=alice, append="\n\nmore")
    assert result.new_rev_id == 7 * REVISIONS_PER_PAGE + 4
    assert current(wiki, "Old harbour").text == before + "\n\nmore"


def test_a_section_is_added_with_its_heading(wiki: Wiki, overlay: Overlay, alice: Author) -> None:
    overlay.edit(wiki.title("Quay"), "lead", by=alice)
    overlay.edit(wiki.title("Quay"), "news", by=alice, section_title="[[Pier|Today]] now")
    assert current(wiki, "Quay").text == "lead\n\n== [[Pier|Today]] now ==\n\nnews"
    assert current(wiki, "Quay").comment == "/* Today now */ new section"


def test_an_editor_may_want_the_page_to_be_there_or_not(wiki: Wiki, overlay: Overlay, alice: Author) -> None:
    assert refused(overlay.edit, wiki.title("Quay"), "x", by=alice, nocreate=True) == "missingtitle"
    overlay.edit(wiki.title("Quay"), "x", by=alice, createonly=True)
    assert refused(overlay.edit, wiki.title("Quay"), "y", by=alice, createonly=True) == "articleexists"
    assert refused(overlay.edit, wiki.title("Special:Quay"), "y", by=alice) == "pagecannotexist"
    assert refused(overlay.move, wiki.title("Quay"), wiki.title("Special:X"), by=alice) == "immobile-target-namespace"
    overlay.edit(wiki.title("Jetty"), "#REDIRECT [[Pier]]", by=alice)
    assert refused(overlay.move, wiki.title("Quay"), wiki.title("Jetty"), by=alice) == "redirectexists"
    assert current(wiki, "Quay").text == "x"


LATER = datetime(2100, 1, 1, tzinfo=UTC)
CONFLICT = "editconflict"


@pytest.mark.parametrize(
    # By whom the later revision and the edit are, what the edit names of the earlier revision, its text, the outcome.
    ("later", "editor", "base", "text", "outcome"),
    [
        ("bob", "alice", "id", "three", CONFLICT),
        ("bob", "alice", "time", "three", CONFLICT),
        ("bob", "bob", "id", "three", CONFLICT),
        ("bob", "bob", "time", "three", "three"),
        ("bob", "bob", "id and time", "three", "three"),
        ("alice", "bob", "time", "three", CONFLICT),
        ("nobody", "nobody", "time", "three", CONFLICT),
        ("bob", "bob", "a later time", "three", "three"),
        ("bob", "nobody", "a later time", "three", CONFLICT),
        ("bob", "alice", "none", "three", "three"),
        ("bob", "alice", "unknown id", "three", CONFLICT),
        ("bob", "alice", "id", "two\nlines\nof text", "two\nlines\nof text"),
        ("bob", "alice", "id", "one\nlines\nof words", "two\nlines\nof words"),
        ("bob", "bob", "id", "one\nlines\nof words", "two\nlines\nof words"),
        ("bob", "alice", "id", "one\nwords\nof text", CONFLICT),
        ("bob", "alice", "id", "", CONFLICT),
    ],
)
def test_an_edit_on_an_old_base_is_merged_or_a_conflict(
    wiki: Wiki, overlay: Overlay, request: Any, later: str, editor: str, base: str, text: str, outcome: str
) -> None:
    people = {name: request.getfixturevalue(name) for name in ("alice", "bob")} | {"nobody": Author("192.0.2.7", 0)}
    title = wiki.title("Quay")
    seen = overlay.edit(title, "one\nlines\nof text", by=people["alice"])
    overlay.edit(title, "two\nlines\nof text", by=people[later])
    bases = {
        "id": EditBase(seen.new_rev_id),
        "time": EditBase(timestamp=seen.timestamp),
        "id and time": EditBase(seen.new_rev_id, seen.timestamp),
        "a later time": EditBase(timestamp=LATER),
        "unknown id": EditBase(99),
        "none": EditBase(),
    }
    if outcome == CONFLICT:
        assert refused(overlay.edit, title, text, by=people[editor], base=bases[base]) == CONFLICT
        outcome = "two\nlines\nof text"
    else:
        overlay.edit(title, text, by=people[editor], base=bases[base])
    assert current(wiki, "Quay").text == outcome


def test_a_base_whose_text_is_hidden_is_a_conflict(wiki: Wiki, overlay: Overlay, alice: Author, bob: Author) -> None:
    title = wiki.title("Quay")
    seen = overlay.edit(title, "one\n\nend", by=alice)
    overlay.edit(title, "two\n\nend", by=bob)
    overlay.hide([seen.new_rev_id or 0], ["text"], by=alice)
    assert refused(overlay.edit, title, "one\n\nEND", by=alice, base=EditBase(seen.new_rev_id)) == CONFLICT


def test_a_new_section_conflicts_only_with_itself(wiki: Wiki, overlay: Overlay, alice: Author, bob: Author) -> None:
    title = wiki.title("Quay")
    seen = overlay.edit(title, "one", by=alice)
    overlay.edit(title, "two", by=bob)
    for _ in range(2):
        base = EditBase(seen.new_rev_id)
        overlay.edit(title, "news", by=alice, section_title="S", base=base)
        assert refused(overlay.edit, title, "news", by=alice, section_title="S", base=base) == CONFLICT
        overlay.edit(title, "news", by=bob, section_title="S", base=base)


def test_too_much_is_refused_and_nothing_is_left(wiki: Wiki, overlay: Overlay, alice: Author) -> None:
    assert refused(overlay.edit, wiki.title("Quay"), "x" * (2048 * 1024 + 1), by=alice) == "contenttoobig"
    assert wiki.page(wiki.title("Quay")) is None
    assert overlay.edit(wiki.title("Quay"), "x", by=alice).page_id == 2


@pytest.mark.parametrize(
    ("texts", "comment"),
    [
        (["new text"], 'Created page with "new text"'),
        ([""], "Created blank page"),
        (["a\nb [[c"], 'Created page with "a b c"'),
        (["~~~ "], 'Created page with "~~~"'),
        (["#REDIRECT [[Pier]]"], "Redirected page to [[Pier]]"),
        (["#REDIRECT [[Pier]]", "#REDIRECT [[jetty#N]]"], "Changed redirect target from [[Pier]] to [[Jetty#N]]"),
        (["#REDIRECT [[Pier]]", "text"], "Removed redirect to [[Pier]]"),
        (["text", ""], "Blanked the page"),
        (["text " * 20, "short"], 'Replaced content with "short"'),
        (["text", "text, more"], ""),
    ],
)
def test_an_edit_without_a_summary_gets_one(
    wiki: Wiki, overlay: Overlay, alice: Author, texts: list[str], comment: str
) -> None:
    for text in texts:
        overlay.edit(wiki.title("Quay"), text, by=alice)
    assert current(wiki, "Quay").comment == comment


def test_a_summary_has_a_limited_length(wiki: Wiki, overlay: Overlay, alice: Author) -> None:
    overlay.edit(wiki.title("Quay"), "a", by=alice, summary=" x\ny ")
    assert current(wiki, "Quay").comment == "x\ny"
    overlay.edit(wiki.title("Quay"), "b", by=alice, summary="é" * 600)
    assert current(wiki, "Quay").comment == "é" * 497 + "..."
    overlay.edit(wiki.title("Pier"), "é" * 600, by=alice)
    comment = current(wiki, "Pier").comment
    assert comment.startswith('Created page with "éé')
    assert comment.endswith('é..."')
    assert len(comment.encode()) <= 500


def test_a_moved_page_keeps_its_id_and_leaves_a_redirect(wiki: Wiki, overlay: Overlay, alice: Author) -> None:
    made = overlay.edit(wiki.title("Quay"), "text", by=alice)
    moved = overlay.move(wiki.title("Quay"), wiki.title("talk:Pier"), by=alice, reason="better")
    assert (moved.redirect_created, moved.over_redirect) == (True, False)
    at_target = current(wiki, "Talk:Pier")
    assert at_target.located.page.page_id == made.page_id
    assert at_target.located.page.namespace_id == 1
    assert [one.rev_id for one in at_target.located.page.revisions] == [8193, 8194]
    assert at_target.text == "text"
    assert at_target.comment == "Alice moved page [[Quay]] to [[Talk:Pier]]: better"
    at_source = current(wiki, "Quay")
    assert at_source.text == "#REDIRECT [[Talk:Pier]]"
    assert at_source.located.page.page_id == 3


def test_a_page_can_be_moved_back_over_its_redirect(wiki: Wiki, overlay: Overlay, alice: Author) -> None:
    quay, pier = wiki.title("Quay"), wiki.title("Pier")
    overlay.edit(quay, "text", by=alice)
    overlay.move(quay, pier, by=alice)
    back = overlay.move(pier, quay, by=alice, noredirect=True)
    assert (back.redirect_created, back.over_redirect) == (False, True)
    assert current(wiki, "Quay").text == "text"
    assert "over a redirect without leaving a redirect" in current(wiki, "Quay").comment
    assert wiki.page(pier) is None
    assert [page.page_id for page in wiki.deleted(quay)] == [3]


@pytest.mark.parametrize(
    ("end", "left"),
    [
        ("css", "/* #REDIRECT */@import url(https://test.example.org/w/index.php?title=User:Alice/b.css&"),
        ("js", '/* #REDIRECT */mw.loader.load("https://test.example.org/w/index.php?title=User:Alice/b.js&'),
    ],
)
def test_code_is_redirected_to_by_code(wiki: Wiki, overlay: Overlay, alice: Author, end: str, left: str) -> None:
    source, target = (wiki.title(f"User:Alice/{name}.{end}") for name in "ab")
    overlay.edit(source, "a", by=alice)
    assert overlay.move(source, target, by=alice).redirect_created
    assert current(wiki, source.text).text.startswith(left)
    assert current(wiki, source.text).redirect_target == target.text
    assert overlay.move(target, source, by=alice).over_redirect


def test_json_cannot_redirect(wiki: Wiki, overlay: Overlay, alice: Author) -> None:
    source, target = (wiki.title(f"User:Alice/{name}.json") for name in "ab")
    overlay.edit(source, "1", by=alice)
    assert not overlay.move(source, target, by=alice).redirect_created
    assert wiki.page(source) is None


def test_a_deletion_has_the_reason_given_or_says_what_was_there(
    wiki: Wiki, overlay: Overlay, alice: Author, bob: Author
) -> None:
    title = wiki.title("Quay")
    overlay.edit(title, "text", by=alice)
    gone = overlay.delete(title, by=alice)
    assert (gone.log_id, gone.reason) == (
        1,
        'content was: "text", and the only contributor was '
        '"[[Special:Contributions/Alice|Alice]]" ([[User talk:Alice|talk]])',
    )
    assert overlay.undelete(title, by=alice) == 1
    assert overlay.delete(title, by=alice, reason="").reason == ""
    overlay.edit(title, "new", by=alice)
    overlay.edit(title, "newer", by=bob)
    assert overlay.delete(title, by=alice).reason == 'content was: "newer"'


def test_parts_of_a_revision_are_hidden_and_shown(wiki: Wiki, overlay: Overlay, alice: Author) -> None:
    title = wiki.title("Quay")
    overlay.edit(title, "one", by=alice)
    overlay.edit(title, "two", by=alice)

    def seen() -> tuple[tuple[str, ...], bool]:
        located = wiki.revision(8193)
        assert located is not None
        assert located.page.revisions[0] is located.revision
        return located.revision.hidden, located.revision.suppressed

    assert [one.refused for one in overlay.hide([8193], ["user", "text"], by=alice, suppress=True)] == [None]
    assert seen() == (("text", "user"), True)
    overlay.hide([8193], ["comment"], by=alice, show=["text"])
    assert seen() == (("user", "comment"), True)
    overlay.hide([8193], by=alice, show=["user", "comment"])
    assert seen() == ((), False)


def test_the_current_text_and_what_is_unknown_cannot_be_hidden(wiki: Wiki, overlay: Overlay, alice: Author) -> None:
    overlay.edit(wiki.title("Quay"), "one", by=alice)
    hidden: list[tuple[int, HiddenPart]] = [(99, "user"), (8193, "text"), (8193, "user")]
    unknown, text, user = (overlay.hide([rev_id], [part], by=alice)[0].refused for rev_id, part in hidden)
    assert unknown is not None
    assert unknown.code == "revdelete-modify-missing"
    assert text is not None
    assert "dated 21 November 2026, 08:07: This is the current revision" in text.english
    assert user is None


def test_time_never_goes_back_within_a_page(wiki: Wiki, overlay: Overlay, clock: SteppingClock, alice: Author) -> None:
    first = overlay.edit(wiki.title("Quay"), "one", by=alice)
    clock.step = timedelta(days=-1)
    second = overlay.edit(wiki.title("Quay"), "two", by=alice)
    assert second.timestamp == first.timestamp


def test_a_page_that_has_all_its_revisions_takes_no_more(clock: SteppingClock, alice: Author) -> None:
    last = CatalogRevision(rev_id=7 * 4096 + 4095, parent_id=0, timestamp=datetime(2026, 1, 1, tzinfo=UTC), text="x")
    page = make_page(7, title="Full").model_copy(update={"revisions": (last,)})
    wiki = Wiki("w", "w.example.org", [page])
    overlay = Overlay(wiki, SEED, clock)
    assert refused(overlay.edit, wiki.title("Full"), "y", by=alice) == "mock-page-full"
    assert refused(overlay.move, wiki.title("Full"), wiki.title("Else"), by=alice) == "mock-page-full"
    assert wiki.page(wiki.title("Full")) == page


def test_a_wiki_without_ids_takes_no_more_pages(clock: SteppingClock, alice: Author) -> None:
    wiki = Wiki("w", "w.example.org", [make_page(2**53 // 4096 - 1, title="Last")])
    overlay = Overlay(wiki, SEED, clock)
    assert refused(overlay.edit, wiki.title("New"), "y", by=alice) == "mock-wiki-full"
    assert refused(overlay.move, wiki.title("Last"), wiki.title("Else"), by=alice) == "mock-wiki-full"
    overlay.move(wiki.title("Last"), wiki.title("Else"), by=alice, noredirect=True)
    assert wiki.page(wiki.title("Else")) is not None
