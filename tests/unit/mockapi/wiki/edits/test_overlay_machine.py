"""Any sequence of writes against a model that keeps pages in a list and looks through all of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from pydantic import TypeAdapter

from mockapi.wiki.catalog import REVISIONS_PER_PAGE, CatalogPages
from mockapi.wiki.edits.overlay import Overlay
from mockapi.wiki.edits.page_change import PageChange
from mockapi.wiki.edits.results import WriteError
from mockapi.wiki.facts import facts
from mockapi.wiki.people import Author
from mockapi.wiki.title import Title
from mockapi.wiki.wiki import Wiki

TITLES = st.sampled_from(["Main Page", "A", "Category:B", "User:C/x.css"])
TEXTS = st.sampled_from(["", "one", "#REDIRECT [[A]]", "#REDIRECT [[:Category:B]]"])
ALICE = Author("Alice", 2)
NOW = datetime(2026, 1, 2, tzinfo=UTC)


@dataclass
class Kept:
    page_id: int
    title: str
    texts: list[str] = field(default_factory=list)
    model: str = "wikitext"
    deleted: int = 0


def leads(page: Kept) -> str | None:
    text = page.texts[0]
    if page.model == "css":
        return text.partition("title=")[2].partition("&")[0].replace("_", " ") or None
    return text.removeprefix("#REDIRECT [[").removesuffix("]]").removeprefix(":") if "REDIRECT" in text else None


def refusal(write: Callable[..., object], *titles: Title, **options: bool) -> str | None:
    try:
        write(*titles, by=ALICE, **options)
    except WriteError as error:
        return error.code
    return None


class Writes(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.wiki = Wiki("w", "w.example.org")
        self.overlay = Overlay(self.wiki, 1, lambda: NOW, record=self.follow)
        main = self.wiki.page(self.wiki.main_page)
        assert main is not None
        self.followed = {main.page_id: (main.title, main.revisions[-1].rev_id)}
        self.pages = [Kept(1, "Main Page", [str(main.revisions[0].text)])]
        self.deletions = 0
        # A move back over a redirect is what chance seldom finds.
        self.edit("A", "one")
        self.move("A", "Category:B", noredirect=False)

    def follow(self, change: PageChange) -> None:
        """A reader of the changes alone, who knows the pages of the beginning."""
        page_id, before = change.page.page_id, None if change.before is None else change.before.rev_id
        known = self.followed.pop(page_id, (None, None))
        assert (known[0] is None) == (change.kind in ("create", "undelete"))
        assert before == (known[1] if change.kind in ("edit", "move", "visibility") else None)
        if change.place_before is not None:
            assert change.place_before.title.replace("_", " ") == known[0]
        if change.kind != "delete":
            self.followed[page_id] = (change.page.title.replace("_", " "), change.revision.rev_id)

    def live(self, title: str) -> Kept | None:
        return next((page for page in self.pages if page.title == title and not page.deleted), None)

    def new(self, title: str, text: str, model: str) -> None:
        self.pages.append(Kept(len(self.pages) + 1, title, [text], model))

    def drop(self, page: Kept) -> None:
        self.deletions += 1
        page.deleted = self.deletions

    @rule(title=TITLES, text=TEXTS)
    def edit(self, title: str, text: str) -> None:
        page = self.live(title)
        result = self.overlay.edit(self.wiki.title(title), text, by=ALICE)
        assert result.new == (page is None)
        assert (result.new_rev_id is None) == (page is not None and page.texts[-1] == text)
        if page is None:
            self.new(title, text, "css" if title.endswith(".css") else "wikitext")
        elif page.texts[-1] != text:
            page.texts.append(text)

    def refusal_of_move(self, source: str, goal: str) -> str | None:
        page, other = self.live(source), self.live(goal)
        if page is None:
            return "missingtitle"
        if source == goal:
            return "selfmove"
        if other is None:
            return None
        leads_to = leads(other)
        if len(other.texts) > 1 or leads_to is None:
            return "articleexists"
        return None if leads_to == source else "redirectexists"

    @rule(source=TITLES, goal=TITLES, noredirect=st.booleans())
    def move(self, source: str, goal: str, noredirect: bool) -> None:
        page, other = self.live(source), self.live(goal)
        refused = refusal(self.overlay.move, self.wiki.title(source), self.wiki.title(goal), noredirect=noredirect)
        assert refused == self.refusal_of_move(source, goal)
        if refused or page is None:
            return
        if other is not None:
            self.drop(other)
        page.title = goal
        page.texts.append(page.texts[-1])
        if not noredirect:
            colon = ":" if goal.startswith("Category") else ""
            address = f"{self.wiki.server}/w/index.php?title={goal.replace(' ', '_')}&action=raw&ctype=text/css"
            css = f"/* #REDIRECT */@import url({address});"
            self.new(source, css if page.model == "css" else f"#REDIRECT [[{colon}{goal}]]", page.model)

    @rule(title=TITLES)
    def delete(self, title: str) -> None:
        page = self.live(title)
        refused = refusal(self.overlay.delete, self.wiki.title(title))
        assert refused == ("missingtitle" if page is None else None)
        if page is not None:
            self.drop(page)

    @rule(title=TITLES)
    def undelete(self, title: str) -> None:
        gone = [page for page in self.pages if page.title == title and page.deleted]
        refused = refusal(self.overlay.undelete, self.wiki.title(title))
        assert refused == ("cantundelete" if not gone or self.live(title) else None)
        if not refused:
            max(gone, key=lambda page: page.deleted).deleted = 0

    @rule(title=TITLES, n=st.integers(1, 3))
    def hide(self, title: str, n: int) -> None:
        page = self.live(title)
        if page is not None and n < len(page.texts):
            rev_id = page.page_id * REVISIONS_PER_PAGE + n
            assert self.overlay.hide([rev_id], ["text"], by=ALICE)[0].refused is None
            located = self.wiki.revision(rev_id)
            assert located is not None
            assert located.revision.hidden == ("text",)

    @invariant()
    def titles_and_revisions_are_those_of_the_model(self) -> None:
        for kept in self.pages:
            rev_ids = [kept.page_id * REVISIONS_PER_PAGE + n for n in range(1, len(kept.texts) + 1)]
            found = [self.wiki.revision(rev_id) for rev_id in rev_ids]
            if kept.deleted:
                assert found == [None] * len(rev_ids)
                assert self.wiki.page_by_id(kept.page_id) is None
                continue
            assert [facts(1, one).text for one in found if one] == kept.texts
            page = self.wiki.page(self.wiki.title(kept.title))
            assert page is not None
            assert page.page_id == kept.page_id
            assert page is self.wiki.page_by_id(kept.page_id)
            assert self.wiki.revision(rev_ids[-1] + 1) is None
        assert len(list(self.wiki)) == sum(not page.deleted for page in self.pages)

    @invariant()
    def who_follows_the_changes_has_the_same_pages(self) -> None:
        assert self.followed == {page.page_id: (page.title, page.revisions[-1].rev_id) for page in self.wiki}

    @invariant()
    def the_archive_is_that_of_the_model(self) -> None:
        for title in {page.title for page in self.pages}:
            gone = sorted(
                (page for page in self.pages if page.title == title and page.deleted), key=lambda page: page.deleted
            )
            found = self.wiki.deleted(self.wiki.title(title))
            assert [page.page_id for page in found] == [page.page_id for page in gone]

    @invariant()
    def what_is_there_is_a_catalog(self) -> None:
        pages = tuple(page.model_dump() for page in self.wiki)
        TypeAdapter(CatalogPages).validate_python(pages)


TestWrites = Writes.TestCase
TestWrites.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
