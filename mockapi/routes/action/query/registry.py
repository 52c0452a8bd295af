"""The modules of `action=query`, each with its group."""

from typing import Final

from mockapi.routes.action.module import QueryModule
from mockapi.routes.action.query.info import MODULE as INFO
from mockapi.routes.action.query.pageprops import MODULE as PAGEPROPS
from mockapi.routes.action.query.revisions import MODULE as REVISIONS
from mockapi.routes.action.query.siteinfo import MODULE as SITEINFO
from mockapi.routes.action.query.tokens import MODULE as TOKENS
from mockapi.routes.action.query.userinfo import MODULE as USERINFO

PROP: Final = {module.name: module for module in (INFO, PAGEPROPS, REVISIONS)}
LIST: Final[dict[str, QueryModule]] = {}
META: Final = {module.name: module for module in (SITEINFO, TOKENS, USERINFO)}
