"""`action=query`: makes the page set, runs the modules, says how to go on when one could not tell all.

Modules run in the order in which they are named: those of `prop` first, then `list`, then `meta`. One that is done is
skipped when the client continues another.
"""

from typing import Final

from mockapi.api.action import mediawiki_modules
from mockapi.api.action.call import Call
from mockapi.api.action.errors import ApiError, bad_continue, not_implemented
from mockapi.api.action.module import Action, Continue, QueryModule
from mockapi.api.action.parameters import Arguments, Kind, Parameter
from mockapi.api.action.query import page_set as page_sets
from mockapi.api.action.query.info import MODULE as INFO
from mockapi.api.action.query.page_set import PageSet, page_set
from mockapi.api.action.query.pageprops import MODULE as PAGEPROPS
from mockapi.api.action.query.revisions import MODULE as REVISIONS
from mockapi.api.action.query.siteinfo import MODULE as SITEINFO
from mockapi.api.action.query.tokens import MODULE as TOKENS
from mockapi.api.action.query.userinfo import MODULE as USERINFO
from mockapi.api.action.tree import Numbered, Tree

PROP: Final = {module.name: module for module in (INFO, PAGEPROPS, REVISIONS)}
LIST: Final[dict[str, QueryModule]] = {}
META: Final = {module.name: module for module in (SITEINFO, TOKENS, USERINFO)}


PARAMETERS: Final = (
    Parameter("prop", allowed=tuple(PROP), of_mediawiki=mediawiki_modules.PROP, several=True),
    # No value allowed would mean any.
    Parameter("list", allowed=tuple(LIST) or ("",), of_mediawiki=mediawiki_modules.LIST, several=True),
    Parameter("meta", allowed=tuple(META), of_mediawiki=mediawiki_modules.META, several=True),
    Parameter("indexpageids", Kind.FLAG),
    Parameter("export", Kind.FLAG, unimplemented=True),
    Parameter("exportnowrap", Kind.FLAG, unimplemented=True),
    Parameter("iwurl", Kind.FLAG),
    Parameter("continue"),
    Parameter("rawcontinue", Kind.FLAG),
    Parameter("generator"),
    *page_sets.PARAMETERS,
)


async def run(call: Call, arguments: Arguments) -> None:
    """Fills the result's `query`, `continue` and `batchcomplete`."""
    modules = _modules(arguments)
    done, pages_done = _done(arguments)
    generator = arguments.text("generator")
    if generator is not None:
        if generator in mediawiki_modules.PROP | mediawiki_modules.LIST and not call.world.options.lenient:
            raise not_implemented("generator", [generator])
        raise ApiError("badgenerator", f'Unknown "generator={generator}".')
    query: dict[str, Tree] = {}
    pages = PageSet()
    if not pages_done:
        pages = page_set(call, arguments)
        query.update(pages.members())
        if pages.nodes:
            if arguments.flag("indexpageids"):
                query["pageids"] = [str(number) for number in pages.nodes]
            query["pages"] = Numbered(pages.nodes, modern="list")
        for value in query.values():
            call.result.fits(value)
    if query:
        call.result.add("query", query)
    call.cache = "public"
    unfinished: dict[str, Continue] = {}
    for path, module in modules:
        if module.name in done or (pages_done and module.name in PROP):
            module.signature.read(call, path)
            continue
        given = module.signature.read(call, path)
        if module.cache(call, given) == "private":
            call.cache = "private"
        try:
            rest = await module.run(call, given, pages, query)
        except ApiError as error:
            error.module = path
            raise
        if query and "query" not in call.result.members:
            call.result.add("query", query)
        if rest:
            unfinished[module.name] = rest
    _add_continue(call, [module.name for _, module in modules], unfinished, raw=arguments.flag("rawcontinue"))


def _modules(arguments: Arguments) -> list[tuple[str, QueryModule]]:
    named = {
        **{name: PROP[name] for name in arguments.many("prop") or ()},
        **{name: LIST[name] for name in arguments.many("list") or () if name},
        **{name: META[name] for name in arguments.many("meta") or ()},
    }
    return [(f"query+{name}", module) for name, module in named.items()]


def _done(arguments: Arguments) -> tuple[frozenset[str], bool]:
    """The modules that an earlier answer finished, and whether those about pages are."""
    text = arguments.text("continue")
    if not text:
        return frozenset(), False
    parts = text.split("||")
    if len(parts) != 2:
        raise bad_continue()
    return frozenset(parts[1].split("|")), parts[0] == "-"


def _add_continue(call: Call, names: list[str], unfinished: dict[str, Continue], *, raw: bool) -> None:
    if raw:
        if unfinished:
            call.result.add_on_top("query-continue", {name: dict(rest) for name, rest in unfinished.items()})
        return
    of_pages = any(name in PROP for name in unfinished)
    if unfinished:
        finished = [name for name in names if name not in unfinished]
        rest: dict[str, Tree] = {key: value for parameters in unfinished.values() for key, value in parameters.items()}
        rest["continue"] = ("" if of_pages else "-") + "||" + "|".join(finished)
        call.result.add_on_top("continue", rest)
    if not of_pages:
        call.result.add_on_top("batchcomplete", True)


ACTION: Final = Action("query", PARAMETERS, run)
