"""What is known about a revision: its source and what follows from it, who made it, what is hidden of it.

Given fields win; the rest is drawn from (seed, wiki, page, revision), so it is the same in every process. The source
of a generated revision is made when it is asked for: names and comments of a hundred revisions cost no text.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property

from mockapi.wiki.catalog import HiddenPart, Located
from mockapi.wiki.pages.article_source import generate, measure
from mockapi.wiki.pages.outline import ArticleId
from mockapi.wiki.people import Author, author, comment, minor
from mockapi.wiki.redirect import redirect_target
from mockapi.wiki.wiki import revision_of
from mockapi.wiki.wikibase.entity_id import is_entity
from mockapi.wiki.wikibase.entity_source import draw_source


@dataclass(frozen=True)
class Facts:
    """Each is drawn when it is asked for. Nothing is left out for being hidden: see `hides`."""

    located: Located
    seed: int

    @cached_property
    def comment(self) -> str:
        """What its author said about it."""
        return comment(self.seed, self.located)

    @cached_property
    def minor(self) -> bool:
        """Whether its author called it minor."""
        return minor(self.seed, self.located)

    @property
    def user(self) -> str:
        """The name of its author."""
        return self._author.name

    @property
    def user_id(self) -> int:
        """The account of its author, 0 for one without."""
        return self._author.id

    @property
    def text(self) -> str:
        """The text that the catalog gives, else one generated from the seed."""
        return generate(self._article) if self._given is None else self._given

    @property
    def size(self) -> int:
        """Of the source, in bytes of UTF-8."""
        return measure(self._article).size if self._given is None else len(self._given.encode())

    @property
    def sha1(self) -> str:
        """Of the source, 40 hex digits."""
        if self._given is None:
            return measure(self._article).sha1
        return hashlib.sha1(self._given.encode(), usedforsecurity=False).hexdigest()

    @cached_property
    def redirect_target(self) -> str | None:
        """Where the page leads, as written in its source, `#fragment` included; None for one that leads nowhere."""
        # Generated text never leads anywhere, so it need not be made.
        return None if self._given is None else redirect_target(self._given, self.located.page.content_model)

    @property
    def anonymous(self) -> bool:
        """Whether it was made by a user without an account."""
        return self.user_id == 0

    @property
    def text_hidden(self) -> bool:
        """Whether readers are refused the source, and with it size, SHA-1 and HTML."""
        return self.hides("text")

    @property
    def user_hidden(self) -> bool:
        """Whether readers are not told who made it."""
        return self.hides("user")

    @property
    def comment_hidden(self) -> bool:
        """Whether readers are not told what was said about it."""
        return self.hides("comment")

    @property
    def suppressed(self) -> bool:
        """Whether what is hidden is hidden from administrators too."""
        return self.located.revision.suppressed

    def hides(self, part: HiddenPart) -> bool:
        """Whether `part` is hidden from readers."""
        return part in self.located.revision.hidden

    @cached_property
    def _author(self) -> Author:
        return author(self.seed, self.located)

    @cached_property
    def _given(self) -> str | None:
        """None for a text that is generated."""
        page, text = self.located.page, self.located.revision.text
        return draw_source(page) if text is None and is_entity(page) else text

    @property
    def _article(self) -> ArticleId:
        return ArticleId.of(self.seed, self.located)


def facts(seed: int, located: Located) -> Facts:
    """Drawn from the seed where the catalog does not say."""
    return Facts(located, seed)


def delta(seed: int, located: Located) -> int | None:
    """How many bytes longer its source is than that of its parent; None without a parent, or with an unknown one."""
    parent = revision_of(located.page, located.revision.parent_id)
    if parent is None:
        return None
    return facts(seed, located).size - facts(seed, Located(located.page, parent)).size
