"""A page's life while traffic is made: titles, revisions, visibility, deletion.

Ids are invertible: `rev_id = page_id * 4096 + n`, where n counts the page's revisions from 1, because a request for a
revision names no page and the mock has to find it.
"""

import hashlib
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random

from devkit.traffic.records import GeneratedPage, GeneratedRevision, PageRef
from devkit.traffic.users import User

REVISIONS_PER_PAGE = 4096
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Visibility:
    """Which parts of a revision everyone may see."""

    content: bool = True
    editor: bool = True
    comment: bool = True

    def flags(self) -> dict[str, bool]:
        """The flags by the field's name in an event."""
        return {
            "is_content_visible": self.content,
            "is_editor_visible": self.editor,
            "is_comment_visible": self.comment,
        }


@dataclass(frozen=True, slots=True)
class Revision:
    """`parent_id` is 0 for the first; `content_rev_id` is the revision that brought the content in. `text` is the
    source, None where the mock draws it.
    """

    rev_id: int
    parent_id: int
    timestamp: datetime
    editor: User
    comment: str
    is_minor: bool
    size_bytes: int
    sha1: str
    content_rev_id: int
    visibility: Visibility = Visibility()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a page: `title` is the full one, with its namespace and underscores."""

    namespace_id: int
    title: str


@dataclass(slots=True, eq=False)
class PageLife:
    """A page now; the generator moves it on as events happen to it. A file has structured data unless it is said that
    it has none. `text` is the source of the revisions that come, None where the mock draws it. `target_id` is the page
    at `redirect_to`, None where events do not say it.
    """

    wiki: str
    domain: str
    page_id: int
    place: Place
    content_model: str = "wikitext"
    content_format: str = "text/x-wiki"
    redirect_to: Place | None = None
    target_id: int | None = None
    revisions: list[Revision] = field(default_factory=list)
    has_structured_data: bool = True
    text: str | None = None

    @property
    def latest(self) -> Revision:
        """Raises IndexError for a page that has no revision yet."""
        return self.revisions[-1]

    @property
    def is_full(self) -> bool:
        """No id is left for one more revision."""
        return len(self.revisions) >= REVISIONS_PER_PAGE - 1

    @property
    def ref(self) -> PageRef:
        """With its present title; a move changes it."""
        return PageRef(wiki=self.wiki, page_id=self.page_id, title=self.place.title)

    def revise(
        self, when: datetime, editor: User, comment: str, size_bytes: int, sha1: str, is_minor: bool = False
    ) -> Revision:
        """Adds a revision with new content."""
        rev_id = self._next_id()
        return self._add(when, editor, comment, is_minor, rev_id, size_bytes, sha1)

    def revise_in_place(self, when: datetime, editor: User, comment: str) -> Revision:
        """Adds a revision with the content of the one before it, as a move does."""
        latest = self.latest
        return self._add(when, editor, comment, True, latest.content_rev_id, latest.size_bytes, latest.sha1)

    def lead_to(self, target: Place, target_id: int | None = None) -> None:
        """Its next revision makes it a redirect."""
        self.redirect_to, self.target_id, self.text = target, target_id, f"#REDIRECT [[{target.title}]]"

    def lead_nowhere(self) -> None:
        """Its next revision makes it a page of its own again."""
        self.redirect_to = self.target_id = self.text = None

    def show(self, visibility: Visibility) -> Revision:
        """Sets what everyone may see of the latest revision."""
        self.revisions[-1] = replace(self.latest, visibility=visibility)
        return self.latest

    def generated(self) -> GeneratedPage:
        """The page for the mock."""
        return GeneratedPage(
            wiki=self.wiki,
            domain=self.domain,
            page_id=self.page_id,
            namespace_id=self.place.namespace_id,
            title=self.place.title,
            content_model=self.content_model,
            revisions=tuple(GeneratedRevision(r.rev_id, r.parent_id, r.timestamp, r.text) for r in self.revisions),
        )

    def _next_id(self) -> int:
        return self.page_id * REVISIONS_PER_PAGE + len(self.revisions) + 1

    def _add(
        self,
        when: datetime,
        editor: User,
        comment: str,
        is_minor: bool,
        content_rev_id: int,
        size_bytes: int,
        sha1: str,
    ) -> Revision:
        parent_id = self.latest.rev_id if self.revisions else 0
        when = when.replace(microsecond=0)
        revision = Revision(
            self._next_id(), parent_id, when, editor, comment, is_minor, size_bytes, sha1, content_rev_id
        )
        self.revisions.append(replace(revision, text=self.text))
        return self.latest


def draw_sha1(rng: Random) -> str:
    """A hash as MediaWiki writes it."""
    return format_sha1(rng.getrandbits(160))


def sha1_of(text: str) -> str:
    """The hash of a source, as MediaWiki writes it."""
    digest = hashlib.sha1(text.encode(), usedforsecurity=False).digest()
    return format_sha1(int.from_bytes(digest))


def format_sha1(number: int) -> str:
    """A hash of 160 bits as MediaWiki writes it: base 36, always 31 characters."""
    digits = []
    for _ in range(31):
        number, digit = divmod(number, 36)
        digits.append(_BASE36[digit])
    return "".join(reversed(digits))
