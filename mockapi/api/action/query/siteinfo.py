"""`meta=siteinfo`: which wiki this is, its namespaces, its size.

Program, versions and limits are those of the MediaWiki that the mock was compared with.
"""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from mockapi.api.action.call import Call, lag_seconds
from mockapi.api.action.errors import ApiError
from mockapi.api.action.mediawiki_modules import SITEINFO
from mockapi.api.action.module import Continue, QueryModule, public
from mockapi.api.action.parameters import Arguments, Kind, Parameter
from mockapi.api.action.query.page_set import PageSet
from mockapi.api.action.tree import Always, Content, Numbered, Tree
from mockapi.wiki.accounts import RIGHTS
from mockapi.wiki.namespaces import MAIN, SYSTEM_MESSAGE, Namespace
from mockapi.wiki.timestamps import iso

_PROPS: Final = (
    "general", "namespaces", "namespacealiases", "interwikimap", "dbrepllag", "statistics", "usergroups", "extensions",
    "rightsinfo", "restrictions",
)  # fmt: skip

PARAMETERS: Final = (
    Parameter("prop", allowed=_PROPS, of_mediawiki=SITEINFO, several=True, all_values=True, default="general"),
    Parameter("filteriw", allowed=("local", "!local")),
    Parameter("showalldb", Kind.FLAG),
    Parameter("numberingroup", Kind.FLAG),
    Parameter("inlanguagecode"),
)

_THUMB_SIZES: Final = (120, 150, 180, 200, 250, 300)
_IMAGE_SIZES: Final = ((320, 240), (640, 480), (800, 600), (1024, 768), (1280, 1024), (2560, 2048))


async def run(call: Call, arguments: Arguments, pages: PageSet, query: dict[str, Tree]) -> Continue:  # noqa: ARG001
    """Adds a member to `query` for each property, in the order in which they are named."""
    for prop in arguments.many("prop") or ():
        value = _about(call, arguments, prop)
        if not call.result.fits(value):
            props = arguments.many("prop") or ()
            return {"siprop": "|".join(props[props.index(prop) :])}
        query[prop] = value
    return {}


def _about(call: Call, arguments: Arguments, prop: str) -> Tree:
    match prop:
        case "general":
            return _general(call)
        case "namespaces":
            return {str(space.id): _namespace(space) for space in call.wiki.namespaces}
        case "namespacealiases":
            spaces = call.wiki.namespaces
            return [
                {"id": number, "alias": Content(name)}
                for number, name in spaces.aliases
                if name != spaces.by_id[number].canonical
            ]
        case "dbrepllag":
            if arguments.flag("showalldb"):
                text = 'Cannot view all servers\' info unless "$wgShowHostnames" is true.'
                raise ApiError("includeAllDenied", text)
            return [{"host": "", "lag": lag_seconds(call.plan.state.lag)}]
        case "statistics":
            return _statistics(call)
        case "usergroups":
            return [{"name": group, "rights": list(rights)} for group, rights in RIGHTS.items()]
        case "rightsinfo":
            return {"url": "", "text": ""}
        case "restrictions":
            return {
                "types": ["create", "edit", "move", "upload"],
                "levels": ["", "autoconfirmed", "sysop"],
                "cascadinglevels": ["sysop"],
                "semiprotectedlevels": ["autoconfirmed"],
            }
        case _:
            return []


def _general(call: Call) -> dict[str, Tree]:
    wiki = call.wiki
    server = wiki.server
    return {
        "mainpage": wiki.main_page.text,
        "base": f"{server}/wiki/{wiki.main_page.dbkey}",
        "sitename": wiki.sitename,
        "mainpageisdomainroot": False,
        "logo": f"{server}/w/resources/assets/change-your-logo.svg",
        "generator": "MediaWiki 1.43.9",
        "phpversion": "8.2.36",
        "phpsapi": "fpm-fcgi",
        "dbtype": "mysql",
        "dbversion": "10.11.14-MariaDB",
        "imagewhitelistenabled": False,
        "langconversion": True,
        "linkconversion": True,
        "titleconversion": True,
        "linkprefixcharset": "",
        "linkprefix": "",
        "linktrail": "/^([a-z]+)(.*)$/sD",
        "legaltitlechars": " %!\"$&'()*,\\-.\\/0-9:;=?@A-Z\\\\^_`a-z~\\x80-\\xFF+",
        "invalidusernamechars": "@:>=",
        "allunicodefixes": False,
        "fixarabicunicode": True,
        "fixmalayalamunicode": True,
        "case": "first-letter",
        "lang": wiki.language,
        "fallback": [],
        "rtl": False,
        "fallback8bitEncoding": "windows-1252",
        "readonly": False,
        "writeapi": True,
        "maxarticlesize": 2_097_152,
        "timezone": "UTC",
        "timeoffset": 0,
        "articlepath": "/wiki/$1",
        "scriptpath": "/w",
        "script": "/w/index.php",
        "variantarticlepath": Always(False),
        "server": server,
        "servername": urlsplit(server).hostname,
        "wikiid": wiki.name,
        "time": iso(call.now),
        "misermode": False,
        "uploadsenabled": False,
        "maxuploadsize": 104_857_600,
        "minuploadchunksize": 1024,
        "galleryoptions": {
            "imagesPerRow": 0,
            "imageWidth": 120,
            "imageHeight": 120,
            "captionLength": True,
            "showBytes": True,
            "showDimensions": True,
            "mode": "traditional",
        },
        "thumblimits": _numbered(_THUMB_SIZES),
        "imagelimits": _numbered([{"width": width, "height": height} for width, height in _IMAGE_SIZES]),
        "favicon": f"{server}/favicon.ico",
        "centralidlookupprovider": "local",
        "allcentralidlookupproviders": ["local"],
        "interwikimagic": True,
        "magiclinks": {"ISBN": False, "PMID": False, "RFC": False},
        "categorycollation": "uppercase",
        "nofollowlinks": True,
        "nofollownsexceptions": [],
        "nofollowdomainexceptions": ["mediawiki.org"],
        "externallinktarget": False,
        "citeresponsivereferences": True,
    }


def _numbered(items: Sequence[Tree]) -> Numbered:
    return Numbered(dict(enumerate(items)), modern="object")


def _namespace(space: Namespace) -> dict[str, Tree]:
    node: dict[str, Tree] = {
        "id": space.id,
        "case": "first-letter",
        "name": Content(space.name),
        "subpages": space.subpages,
    }
    if space.id != MAIN and space.canonical is not None:
        node["canonical"] = space.canonical
    node |= {"content": space.content, "nonincludable": False}
    if space.id == SYSTEM_MESSAGE:
        node["namespaceprotection"] = "editinterface"
    return node


def _statistics(call: Call) -> dict[str, Tree]:
    pages, users = list(call.wiki), call.accounts.users
    return {
        "pages": len(pages),
        "articles": sum(page.namespace_id == MAIN for page in pages),
        "edits": sum(len(page.revisions) for page in pages),
        "images": 0,
        "users": len(users),
        "activeusers": 0,
        "admins": sum("sysop" in user.groups for user in users),
        "jobs": 0,
    }


MODULE: Final = QueryModule("siteinfo", "si", PARAMETERS, run, public)
