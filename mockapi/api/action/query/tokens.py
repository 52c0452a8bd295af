"""`meta=tokens`: what a client has to show with a write, to prove that it is no link on another site's page."""

from typing import Final

from mockapi.api.action.call import Call
from mockapi.api.action.module import Continue, QueryModule, private
from mockapi.api.action.parameters import Arguments, Parameter
from mockapi.api.action.query.page_set import PageSet
from mockapi.api.action.tree import Record, Tree
from mockapi.wiki.accounts import TOKEN_KINDS

PARAMETERS: Final = (Parameter("type", allowed=TOKEN_KINDS, several=True, all_values=True, default="csrf"),)

_NEED_A_SESSION: Final = frozenset({"login", "createaccount"})


async def run(call: Call, arguments: Arguments, pages: PageSet, query: dict[str, Tree]) -> Continue:  # noqa: ARG001
    """Adds `tokens`; begins a session for tokens that need one."""
    if call.untrusted:
        text = "Tokens may not be obtained when the same-origin policy is not applied."
        call.result.warn("query+tokens", "tokens-origin", text)
        return {}
    wanted = arguments.many("type") or ()
    if _NEED_A_SESSION & set(wanted):
        call.keep_session()
    kinds = [kind for word in wanted for kind in TOKEN_KINDS if kind == word]
    query["tokens"] = Record({f"{kind}token": call.accounts.token(kind, call.session) for kind in kinds})
    return {}


MODULE: Final = QueryModule("tokens", "", PARAMETERS, run, private)
