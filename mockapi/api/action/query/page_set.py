"""The pages that a query is about: by title, page id or revision id, and what is wrong with those that are none.

titles ──> normalized ──> redirects followed ──> good pages
              └─ invalid, special, missing: pages with a negative number in their place
revids ──> badrevids, or the pages they belong to
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from mockapi.api.action.call import Call
from mockapi.api.action.errors import cannot_use_with
from mockapi.api.action.parameters import Arguments, Kind, Parameter
from mockapi.api.action.query.visibility import current, revision
from mockapi.api.action.tree import Numbered, Tree
from mockapi.wiki.catalog import CatalogPage, Located
from mockapi.wiki.facts import facts
from mockapi.wiki.namespaces import SPECIAL
from mockapi.wiki.title import InvalidTitle, Title
from mockapi.wiki.wiki import system_message

_SPECIAL_PAGES: Final = frozenset(
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
    return title.namespace_id == SPECIAL and title.key.partition("/")[0].lower() in _SPECIAL_PAGES


PARAMETERS: Final = (
    Parameter("titles", several=True),
    Parameter("pageids", Kind.INTEGER, several=True),
    Parameter("revids", Kind.INTEGER, several=True),
    Parameter("redirects", Kind.FLAG),
    Parameter("converttitles", Kind.FLAG),
)


@dataclass
class PageSet:
    """`good` are pages with their current revision, by page id; `revisions` those asked for by id and known.
    `by_revision` says that revisions were asked for at all. Numbers of `missing`, `special` and `invalid` are negative.
    """

    good: dict[int, Located] = field(default_factory=dict)
    revisions: dict[int, Located] = field(default_factory=dict)
    by_revision: bool = False
    missing: dict[int, Title] = field(default_factory=dict)
    missing_ids: list[int] = field(default_factory=list)
    bad_revisions: list[int] = field(default_factory=list)
    invalid: dict[int, tuple[str, str]] = field(default_factory=dict)
    special: dict[int, Title] = field(default_factory=dict)
    normalized: list[dict[str, Tree]] = field(default_factory=list)
    redirects: list[dict[str, Tree]] = field(default_factory=list)
    nodes: dict[int, dict[str, Tree]] = field(default_factory=dict)
    _last_number: int = 0

    def members(self) -> dict[str, Tree]:
        """What `query` holds of the set: what was wrong or different, and a node for each page, kept in `nodes`."""
        members: dict[str, Tree] = {}
        if self.normalized:
            members["normalized"] = self.normalized
        if self.redirects:
            members["redirects"] = self.redirects
        if self.bad_revisions:
            bad: dict[int, Tree] = {rev_id: {"revid": rev_id, "missing": True} for rev_id in self.bad_revisions}
            members["badrevids"] = Numbered(bad)
        self.nodes = self._nodes()
        return members

    def _nodes(self) -> dict[int, dict[str, Tree]]:
        nodes: dict[int, dict[str, Tree]] = {}
        for number, title in self.missing.items():
            missing: dict[str, Tree] = {"ns": title.namespace_id, "title": title.text, "missing": True}
            nodes[number] = missing if system_message(title) is None else {**missing, "known": True}
        for number, (text, reason) in self.invalid.items():
            nodes[number] = {"title": text, "invalidreason": reason, "invalid": True}
        for page_id in self.missing_ids:
            nodes[page_id] = {"pageid": page_id, "missing": True}
        for number, title in self.special.items():
            node: dict[str, Tree] = {"ns": title.namespace_id, "title": title.text, "special": True}
            nodes[number] = node if is_special_page(title) else {**node, "missing": True}
        for page_id, located in self.good.items():
            page = located.page
            nodes[page_id] = {"pageid": page_id, "ns": page.namespace_id, "title": page.title.replace("_", " ")}
        return nodes

    def number(self) -> int:
        """-1, -2, …: for nodes that have no page id of their own."""
        self._last_number -= 1
        return self._last_number


def page_set(call: Call, arguments: Arguments) -> PageSet:
    """The pages that the arguments name. Raises ApiError for more than one way of naming them."""
    ways = [name for name in ("titles", "pageids", "revids") if arguments.values[name] is not None]
    if len(ways) > 1:
        raise cannot_use_with(ways[1], ways[0], "multisource")
    pages = PageSet()
    follow = arguments.flag("redirects")
    match ways:
        case ["titles"]:
            _add_titles(call, pages, arguments.many("titles") or (), follow=follow)
        case ["pageids"]:
            _add_ids(call, pages, arguments.integers("pageids") or (), follow=follow)
        case ["revids"]:
            if follow:
                text = (
                    'Redirect resolution cannot be used together with the "revids" parameter. '
                    'Any redirects the "revids" point to have not been resolved.'
                )
                call.result.warn("query", "redirectsandrevids", text)
            _add_revisions(call, pages, arguments.integers("revids") or ())
    return pages


def _add_titles(call: Call, pages: PageSet, texts: Iterable[str], *, follow: bool) -> None:
    titles = []
    for text in texts:
        _note_mended(call, pages, text)
        try:
            title = call.wiki.title(text)
        except InvalidTitle as invalid:
            pages.invalid[pages.number()] = (text, invalid.english)
            continue
        titles.append((text, title))
    ordinary: dict[Title, None] = {}
    for text, title in titles:
        if title.text != text:
            pages.normalized.append({"fromencoded": False, "from": text, "to": title.text})
        if title.can_exist:
            ordinary[title] = None
        elif title not in pages.special.values():
            pages.special[pages.number()] = title
    _add_pages(call, pages, ordinary, follow=follow)


def _note_mended(call: Call, pages: PageSet, text: str) -> None:
    sent = call.form.mended.get("titles")
    if sent is not None and "%7C" not in sent.upper():
        pages.normalized.append({"fromencoded": True, "from": sent, "to": text})


def _add_ids(call: Call, pages: PageSet, page_ids: Iterable[int], *, follow: bool) -> None:
    existing: list[CatalogPage] = []
    for page_id in page_ids:
        page = call.wiki.page_by_id(page_id)
        if page is None or current(call, page) is None:
            pages.missing_ids.append(page_id)
        else:
            existing.append(page)
    existing.sort(key=lambda page: page.page_id)
    _add_pages(call, pages, [call.wiki.title_of(page) for page in existing], follow=follow)
    pages.good = dict(sorted(pages.good.items()))


def _add_revisions(call: Call, pages: PageSet, rev_ids: Iterable[int]) -> None:
    pages.by_revision = True
    for rev_id in rev_ids:
        located = revision(call, rev_id)
        if located is None:
            pages.bad_revisions.append(rev_id)
        else:
            pages.revisions[rev_id] = located
    pages.revisions = dict(sorted(pages.revisions.items()))
    for located in pages.revisions.values():
        page = located.page
        pages.good[page.page_id] = current(call, page) or located
    pages.good = dict(sorted(pages.good.items()))


def _add_pages(call: Call, pages: PageSet, titles: Iterable[Title], *, follow: bool) -> None:
    """Pages of `titles`, or of where they lead; a target that was there already is not looked at again."""
    known: set[Title] = set()
    pending = list(titles)
    while pending:
        leads_on: list[tuple[int, dict[str, Tree], Title]] = []
        for title in sorted(pending, key=lambda title: (title.namespace_id, title.key.encode())):
            known.add(title)
            page = call.wiki.page(title)
            located = None if page is None else current(call, page)
            if located is None:
                continue
            target = _leads_to(call, located) if follow else None
            if target is None:
                pages.good[located.page.page_id] = located
                continue
            step: dict[str, Tree] = {"from": title.text, "to": target[0].text}
            step = {**step, "tofragment": target[1]} if target[1] else step
            leads_on.append((located.page.page_id, step, target[0]))
        _number_missing(call, pages, pending)
        leads_on.sort(key=lambda redirect: redirect[0])
        pages.redirects += [step for _, step, _ in leads_on]
        pending = [title for title in dict.fromkeys(title for _, _, title in leads_on) if title not in known]


def _number_missing(call: Call, pages: PageSet, titles: Iterable[Title]) -> None:
    missing = [title for title in titles if not _is_there(call, title)]
    # MediaWiki numbers them by namespace, each where one of its titles came first.
    order = list(dict.fromkeys(title.namespace_id for title in missing))
    for title in sorted(missing, key=lambda title: order.index(title.namespace_id)):
        pages.missing[pages.number()] = title


def _is_there(call: Call, title: Title) -> bool:
    page = call.wiki.page(title)
    return page is not None and current(call, page) is not None


def _leads_to(call: Call, located: Located) -> tuple[Title, str] | None:
    text = facts(call.world.seed, located).redirect_target
    if text is None:
        return None
    try:
        return call.wiki.title(text), text.partition("#")[2]
    except InvalidTitle:
        return None
