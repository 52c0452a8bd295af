"""The special pages that a wiki has."""

from typing import Final

from mockapi.wiki.namespaces import SPECIAL
from mockapi.wiki.title import Title

_NAMES: Final = frozenset(
    {
        "allmessages", "allpages", "ancientpages", "apihelp", "apisandbox", "badtitle", "blankpage", "block",
        "blocklist", "booksources", "brokenredirects", "categories", "changeemail", "comparepages",
        "contributions", "createaccount", "deadendpages", "deletedcontributions", "diff", "doubleredirects",
        "editwatchlist", "emailuser", "expandtemplates", "export", "filelist", "import", "linksearch",
        "listadmins", "listbots", "listfiles", "listgrouprights", "listredirects", "listusers", "log",
        "lonelypages", "longpages", "movepage", "mycontributions", "mypage", "mytalk", "newimages", "newpages",
        "pagehistory", "pageinfo", "pagelanguage", "permanentlink", "preferences", "prefixindex",
        "protectedpages", "protectedtitles", "purge", "random", "randompage", "recentchanges",
        "recentchangeslinked", "redirect", "revisiondelete", "runjobs", "search", "shortpages", "specialpages",
        "statistics", "tags", "uncategorizedpages", "undelete", "unusedtemplates", "upload", "userlogin",
        "userlogout", "userrights", "version", "wantedpages", "watchlist", "whatlinkshere",
    }
)  # fmt: skip


def is_special_page(title: Title) -> bool:
    """Whether there is such a page; what follows a slash is said to the page."""
    return title.namespace_id == SPECIAL and title.key.partition("/")[0].lower() in _NAMES
