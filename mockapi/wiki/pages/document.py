"""Which document a revision is asked for in, and how it is made.

no shape ─┬─ generated ──> article ─┬─ flavour ──> bytes
          └─ given text ──> given ──┘
Block, Bomb, Noise ──────────────────────────────> bytes of an exact size, in the flavour `view` always
EntityRdf ───────────────────────────────────────> the RDF of an entity, in no flavour
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Final

from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.article import render_article
from mockapi.wiki.pages.article_source import generate
from mockapi.wiki.pages.block import Block, block_parts
from mockapi.wiki.pages.coding import even
from mockapi.wiki.pages.fillers import Bomb, Noise, bomb_parts, noise_parts
from mockapi.wiki.pages.flavor import Flavor, flavored
from mockapi.wiki.pages.outline import MAX_BYTES, ArticleId
from mockapi.wiki.pages.rendered_source import render_source
from mockapi.wiki.wiki import Wiki
from mockapi.wiki.wikibase.entity_rdf import EntityRdf

Shape = Block | Bomb | Noise | EntityRdf
"""A document in the place of the revision's own: one of an exact size, or its entity's RDF."""

_WORK_OF_RDF: Final = 4  # a byte of RDF takes longer than one of a generated article
_WORK_A_CHARACTER: Final = 64  # given text takes longer to render than a generated article of that length


@dataclass(frozen=True, slots=True)
class Document:
    """One document of one seed; `shape` None stands for the revision's own. `wiki` is where it is, if that is known."""

    seed: int
    located: Located
    shape: Shape | None = None
    flavor: Flavor = "view"
    wiki: Wiki | None = None

    @property
    def key(self) -> Hashable:
        """What tells it from the other documents of the seed. A page can be moved, and its title is in the text; any
        edit can turn a link in given text red or blue.
        """
        page, revision = self.located.page, self.located.revision
        changes = 0 if self.wiki is None or revision.text is None else self.wiki.changes
        return page.wiki, revision.rev_id, page.title, changes, self.shape, self.flavor

    @property
    def exact_bytes(self) -> int | None:
        """Its length if that is known before it is made."""
        return None if self.shape is None else self.shape.size_bytes

    @property
    def work_bytes(self) -> int:
        """How much work it is, measured by the length of a generated one."""
        if isinstance(self.shape, EntityRdf):
            return self.shape.estimate_bytes(self.seed, self.located) * _WORK_OF_RDF
        if self.shape is not None:
            return self.shape.size_bytes
        text = self.located.revision.text
        return MAX_BYTES if text is None else len(text) * _WORK_A_CHARACTER

    def pieces(self) -> Iterator[bytes]:
        """Pieces of the same size but for the last; each call makes the document anew."""
        return even(self._parts())

    def _parts(self) -> Iterator[bytes]:
        match self.shape:
            case Block() as block:
                yield from block_parts(self.seed, self.located, block)
            case Bomb() as bomb:
                yield from bomb_parts(self.located, bomb)
            case Noise() as noise:
                yield from noise_parts(self.seed, self.located, noise)
            case EntityRdf() as rdf:
                yield rdf.write(self.seed, self.located)
            case None:
                yield flavored(self._own(), self.flavor)

    def _own(self) -> bytes:
        text = self.located.revision.text
        if text is not None:
            return render_source(self.located, text, self.wiki)
        if self.located.page.content_model != "wikitext":
            return render_source(self.located, generate(ArticleId.of(self.seed, self.located)), self.wiki)
        return render_article(self.seed, self.located, server=None if self.wiki is None else self.wiki.server)
