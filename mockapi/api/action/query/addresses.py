"""Where pages are for people: addresses as MediaWiki writes them."""

from typing import Final
from urllib.parse import quote

from mockapi.wiki.title import Title

_KEPT: Final = ";@$!*(),/~:"


def article_path(title: Title) -> str:
    """`/wiki/TITLE`, with underscores, escaped."""
    return f"/wiki/{quote(title.dbkey, safe=_KEPT)}"


def edit_path(title: Title) -> str:
    """`/w/index.php?title=TITLE&action=edit`, where links to missing pages lead."""
    return f"/w/index.php?title={quote(title.dbkey, safe=_KEPT)}&action=edit"
