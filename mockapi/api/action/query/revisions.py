"""`prop=revisions`: the revisions asked for by id, the current ones of several pages, or the history of one page.

The history is told page by page of at most `rvlimit`; the others end only where the answer would grow too large.
"""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final

from mockapi.api.action.call import CacheMode, Call
from mockapi.api.action.errors import ApiError, bad_continue, cannot_use_with, not_together
from mockapi.api.action.module import Continue, QueryModule
from mockapi.api.action.parameters import Arguments, Kind, Parameter, in_range
from mockapi.api.action.query.page_set import PageSet
from mockapi.api.action.query.revision_info import Wanted, revision_info, second_of
from mockapi.api.action.query.visibility import hidden, revision, sees_hidden
from mockapi.api.action.tree import Tree
from mockapi.wiki.catalog import Located
from mockapi.wiki.facts import facts

_PROPS: Final = (
    "ids", "flags", "timestamp", "user", "userid", "size", "slotsize", "sha1", "slotsha1", "contentmodel", "comment",
    "parsedcomment", "content", "tags", "roles",
)  # fmt: skip
_NOT_WITH_SLOTS: Final = (
    "expandtemplates", "generatexml", "parse", "diffto", "difftotext", "difftotextpst", "contentformat",
)  # fmt: skip
_OF_A_LIST: Final = ("user", "excludeuser", "limit", "startid", "endid", "start", "end")

PARAMETERS: Final = (
    Parameter(
        "prop",
        allowed=_PROPS,
        several=True,
        default="ids|timestamp|flags|comment|user",
        of_mediawiki=frozenset({"parsetree"}),
    ),
    Parameter("slots", allowed=("main",), several=True, all_values=True),
    Parameter("contentformat-main"),
    Parameter("limit", Kind.LIMIT, least=1, most=500, most_of_bots=5000),
    Parameter("expandtemplates", Kind.FLAG, deprecated=True, unimplemented=True),
    Parameter("generatexml", Kind.FLAG, deprecated=True, unimplemented=True),
    Parameter("parse", Kind.FLAG, deprecated=True, unimplemented=True),
    Parameter("section"),
    Parameter("diffto", deprecated=True, unimplemented=True),
    Parameter("difftotext", deprecated=True, unimplemented=True),
    Parameter("difftotextpst", Kind.FLAG, deprecated=True, unimplemented=True),
    Parameter("contentformat", deprecated=True),
    Parameter("startid", Kind.INTEGER),
    Parameter("endid", Kind.INTEGER),
    Parameter("start", Kind.TIMESTAMP),
    Parameter("end", Kind.TIMESTAMP),
    Parameter("dir", allowed=("newer", "older"), default="older"),
    Parameter("user"),
    Parameter("excludeuser"),
    Parameter("tag"),
    Parameter("continue"),
)

_MOST: Final = (500, 5000)
_MOST_WITH_TEXT: Final = (50, 500)
_ORDINARY: Final = 10

Row = tuple[Located, str | int]
"""A revision, and where a client goes on when there is no room for it."""


async def run(call: Call, arguments: Arguments, pages: PageSet, query: dict[str, Tree]) -> Continue:  # noqa: ARG001
    """Adds `revisions` to the pages' nodes; returns `rvcontinue` when the limit or the answer's size stops it."""
    listing = arguments.text("dir") == "newer" or any(arguments.values[name] is not None for name in _OF_A_LIST)
    if not pages.good:
        return {}
    if listing:
        _refuse_listing(arguments, pages)
    wanted, limit = _wanted(call, arguments, listing=listing)
    if arguments.text("tag") is not None:
        return {}
    if listing:
        rows = _history(call, arguments, next(iter(pages.good.values())))
    elif pages.by_revision:
        rows = _by_id(arguments, pages)
    else:
        rows = _current(arguments, pages)
    for count, (located, next_row) in enumerate(rows):
        if count == limit:
            return {"rvcontinue": next_row}
        if count and "content" in wanted.props:
            await asyncio.sleep(0)  # making a source takes a while, and others wait
        info = revision_info(call, located, wanted)
        listed = _revisions_of(pages.nodes[located.page.page_id])
        if not call.result.fits(info):
            return {"rvcontinue": next_row}
        listed.append(info)
    return {}


def cache(call: Call, arguments: Arguments) -> CacheMode:  # noqa: ARG001 - one of the forms of `QueryModule.cache`
    """Private for who sees what is hidden."""
    return "private" if sees_hidden(call) else "public"


def _revisions_of(node: dict[str, Tree]) -> list[Tree]:
    """The list of a page's revisions; one that is left empty says that there was no room."""
    listed = node.setdefault("revisions", [])
    if not isinstance(listed, list):
        raise TypeError(listed)
    return listed


def _refuse_listing(arguments: Arguments, pages: PageSet) -> None:
    prefix = arguments.prefix
    if pages.by_revision:
        raise ApiError(
            "invalidparammix",
            f'The "revids" parameter may not be used with the list options ("{prefix}limit", "{prefix}startid", '
            f'"{prefix}endid", "{prefix}dir=newer", "{prefix}user", "{prefix}excludeuser", "{prefix}start", and '
            f'"{prefix}end").',
        )
    if len(pages.good) > 1:
        raise ApiError(
            "invalidparammix",
            '"titles", "pageids" or a generator was used to supply multiple pages, but the '
            f'"{prefix}limit", "{prefix}startid", "{prefix}endid", "{prefix}dir=newer", "{prefix}user", '
            f'"{prefix}excludeuser", "{prefix}start", and "{prefix}end" parameters may only be used on a single page.',
        )


def _wanted(call: Call, arguments: Arguments, *, listing: bool) -> tuple[Wanted, int]:
    props = frozenset(arguments.many("prop") or ())
    slots = arguments.many("slots")
    if slots is not None:
        for name in _NOT_WITH_SLOTS:
            if name in arguments.sent:
                raise cannot_use_with(arguments.full(name), arguments.full("slots"))
    wanted = Wanted(props, slots, arguments.text("section"))
    limit = _limit(call, arguments, with_text="content" in props, listing=listing)
    if wanted.needs_slots and slots is None:
        text = (
            f'Because "{arguments.full("slots")}" was not specified, a legacy format has been used for the output. '
            "This format is deprecated, and in the future the new format will always be used."
        )
        call.result.deprecate("query+revisions", text, "action=query&prop=revisions&!rvslots")
    return wanted, limit


def _limit(call: Call, arguments: Arguments, *, with_text: bool, listing: bool) -> int:
    most = (_MOST_WITH_TEXT if with_text else _MOST)[call.high_limits]
    if not listing:
        return most
    asked = arguments.values["limit"]
    if asked == "max":
        call.result.add("limits", {"revisions": most})
        return most
    asked = asked if isinstance(asked, int) else _ORDINARY
    return in_range(call, "query+revisions", arguments.full("limit"), asked, 1, most)


def _by_id(arguments: Arguments, pages: PageSet) -> Iterator[Row]:
    start = _whole(arguments.text("continue"))
    return ((located, rev_id) for rev_id, located in pages.revisions.items() if start is None or rev_id >= start)


def _whole(text: str | None) -> int | None:
    if text is None:
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


def _current(arguments: Arguments, pages: PageSet) -> Iterator[Row]:
    start = (0, 0)
    text = arguments.text("continue")
    if text is not None:
        parts = text.split("|")
        if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 20 for part in parts):
            raise bad_continue()
        start = (int(parts[0]), int(parts[1]))
    for page_id, located in sorted(pages.good.items()):
        rev_id = located.revision.rev_id
        if (page_id, rev_id) >= start:
            yield located, f"{page_id}|{rev_id}"


def _history(call: Call, arguments: Arguments, newest: Located) -> Iterator[Row]:
    for names in (("startid", "start"), ("endid", "end"), ("user", "excludeuser")):
        if all(arguments.values[name] is not None for name in names):
            raise not_together([arguments.full(name) for name in names])
    newer = arguments.text("dir") == "newer"
    start, end, goes_on = _bounds(call, arguments)
    fits = _author_filter(call, arguments)
    last_id = newest.revision.rev_id
    known = [Located(newest.page, shown) for shown in newest.page.revisions if shown.rev_id <= last_id]
    if call.world.rules:
        known = [located for located in known if revision(call, located.revision.rev_id) is not None]
    for located in known if newer else reversed(known):
        place = (second_of(located), located.revision.rev_id)
        first, last = (start, end) if newer else (end, start)
        if (first is not None and place < _lowest(first)) or (last is not None and place > _highest(last)):
            continue
        if goes_on is not None and (place < goes_on if newer else place > goes_on):
            continue
        if fits(located):
            yield located, f"{place[0]:%Y%m%d%H%M%S}|{place[1]}"


Bound = tuple[datetime, int | None]


def _lowest(bound: Bound) -> tuple[datetime, int]:
    return bound[0], bound[1] or 0


def _highest(bound: Bound) -> tuple[datetime, float]:
    return bound[0], float("inf") if bound[1] is None else bound[1]


def _bounds(call: Call, arguments: Arguments) -> tuple[Bound | None, Bound | None, tuple[datetime, int] | None]:
    bounds: list[Bound | None] = []
    for by_id, by_time in (("startid", "start"), ("endid", "end")):
        rev_id, moment = arguments.integer(by_id), arguments.moment(by_time)
        if rev_id is not None:
            located = call.wiki.revision(rev_id)
            if located is None:
                full = arguments.full(by_id)
                raise ApiError(f"badid_{full}", f'No revision was found for parameter "{full}".')
            bounds.append((second_of(located), rev_id))
        else:
            bounds.append(None if moment is None else (moment, None))
    text = arguments.text("continue")
    return bounds[0], bounds[1], None if text is None else _place(text)


def _place(text: str) -> tuple[datetime, int]:
    parts = text.split("|")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 20 for part in parts):
        raise bad_continue()
    try:
        moment = datetime.strptime(parts[0], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        raise bad_continue() from None
    return moment, int(parts[1])


def _author_filter(call: Call, arguments: Arguments) -> Callable[[Located], bool]:
    only, without = arguments.text("user"), arguments.text("excludeuser")
    if only is None and without is None:
        return lambda _: True
    name = _user_name(only if only is not None else without or "")

    def fits(located: Located) -> bool:
        if hidden(call, located).sight("user") == "hidden":
            return False
        return (facts(call.world.seed, located).user == name) is (only is not None)

    return fits


def _user_name(text: str) -> str:
    name = text.replace("_", " ").strip()
    return name[:1].upper() + name[1:]


MODULE: Final = QueryModule("revisions", "rv", PARAMETERS, run, cache)
