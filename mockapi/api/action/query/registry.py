"""The modules of `action=query`, each with its group."""

from typing import Final

from mockapi.api.action.module import QueryModule
from mockapi.api.action.query.info import MODULE as INFO
from mockapi.api.action.query.pageprops import MODULE as PAGEPROPS
from mockapi.api.action.query.revisions import MODULE as REVISIONS
from mockapi.api.action.query.siteinfo import MODULE as SITEINFO
from mockapi.api.action.query.tokens import MODULE as TOKENS
from mockapi.api.action.query.userinfo import MODULE as USERINFO

PROP: Final = {module.name: module for module in (INFO, PAGEPROPS, REVISIONS)}
LIST: Final[dict[str, QueryModule]] = {}
META: Final = {module.name: module for module in (SITEINFO, TOKENS, USERINFO)}
