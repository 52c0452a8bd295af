"""What the parts of the renderer share while they render one page."""

from collections.abc import Callable
from dataclasses import dataclass, field

from mockapi.wiki.namespaces import FILE, SPECIAL, Namespaces
from mockapi.wiki.parsoid.cite import Citations
from mockapi.wiki.parsoid.nodes import Node
from mockapi.wiki.parsoid.stash import Stash
from mockapi.wiki.title import InvalidTitle, Title, parse_title


@dataclass
class Page:
    """The page that is rendered; `exists` says which other pages there are. `abouts` counts the groups of nodes that
    belong together (`#mwt1` …); `block` renders what an HTML element holds.
    """

    title: Title | None
    namespaces: Namespaces
    exists: Callable[[Title], bool]
    block: Callable[["Page", str, str], list[Node]]
    stash: Stash = field(default_factory=Stash)
    citations: Citations = field(default_factory=Citations)
    switches: set[str] = field(default_factory=set)
    depth: int = 0
    abouts: int = 0

    @property
    def href(self) -> str:
        """The page's own address, relative as Parsoid writes it."""
        return href_of(self.title) if self.title else "./"

    def about(self) -> str:
        """Counts up: `#mwt1`, `#mwt2`, … for nodes that belong together."""
        self.abouts += 1
        return f"#mwt{self.abouts}"

    def parse(self, text: str) -> Title | None:
        """The title that a link means; None when no page could have it."""
        try:
            return parse_title(text, self.namespaces)
        except InvalidTitle:
            return None

    def known(self, title: Title) -> bool:
        """Whether a link to `title` is blue. There are no files."""
        return title.namespace_id == SPECIAL or (title.namespace_id != FILE and self.exists(title))


def href_of(title: Title) -> str:
    """A title as Parsoid writes it into a link."""
    return "./" + title.dbkey.replace("%", "%25").replace("?", "%3F")
