"""`action=revisiondelete`: hides parts of revisions from readers, or shows them again."""

from collections.abc import Iterable
from typing import Final

from mockapi.api.action.call import Call
from mockapi.api.action.errors import ApiError
from mockapi.api.action.module import Action
from mockapi.api.action.parameters import Arguments, Kind, Parameter
from mockapi.api.action.query.revision_info import second_of
from mockapi.api.action.tree import Tree
from mockapi.wiki.catalog import HiddenPart, Located
from mockapi.wiki.edits.results import HideResult
from mockapi.wiki.facts import facts
from mockapi.wiki.timestamps import iso

_PARTS: Final[dict[str, HiddenPart]] = {"comment": "comment", "content": "text", "user": "user"}
_SUPPRESS: Final = {"yes": True, "no": False}

PARAMETERS: Final = (
    Parameter("type", allowed=("archive", "filearchive", "logging", "oldimage", "revision"), required=True),
    Parameter("target"),
    Parameter("ids", Kind.INTEGER, several=True, required=True),
    Parameter("hide", allowed=tuple(_PARTS), several=True),
    Parameter("show", allowed=tuple(_PARTS), several=True),
    Parameter("suppress", allowed=("no", "nochange", "yes"), default="nochange"),
    Parameter("reason"),
    Parameter("tags", several=True),
    Parameter("token", required=True),
)


async def run(call: Call, arguments: Arguments) -> None:
    """Adds `revisiondelete`, with an item for each id."""
    if not call.may("deleterevision"):
        text = "You don't have permission to delete or undelete specific revisions of pages."
        raise ApiError("permissiondenied", text)
    hide, show = arguments.many("hide") or (), arguments.many("show") or ()
    if set(hide) & set(show):
        text = 'The same field cannot be used in both "hide" and "show".'
        raise ApiError("badparams", text)
    if not (hide or show):
        raise ApiError("badparams", 'At least one value is required for "hide" and/or "show".')
    rev_ids = arguments.integers("ids") or ()
    before = {rev_id: call.wiki.revision(rev_id) for rev_id in rev_ids}
    results = call.overlay.hide(
        rev_ids,
        _parts(hide),
        by=call.author,
        show=_parts(show),
        suppress=_SUPPRESS.get(arguments.text("suppress") or ""),
    )
    call.wrote = any(before[rev_id] != call.wiki.revision(rev_id) for rev_id in rev_ids)
    first = next((located for rev_id in rev_ids if (located := call.wiki.revision(rev_id))), None)
    answer: dict[str, Tree] = {"status": "Success"}
    if first is not None:
        answer["target"] = call.wiki.title_of(first.page).text
    items: list[Tree] = [_item(call, result, before[result.rev_id]) for result in results]
    call.result.add("revisiondelete", {**answer, "items": items})


def _parts(names: Iterable[str]) -> list[HiddenPart]:
    return [_PARTS[name] for name in names]


def _item(call: Call, result: HideResult, before: Located | None) -> dict[str, Tree]:
    located = call.wiki.revision(result.rev_id)
    item: dict[str, Tree] = {"status": "Fail" if located is None else "Success"}
    if result.refused is not None:
        params: list[Tree] = [result.rev_id] if located is None else _date(located)
        item |= {"errors": [_message("error", result.refused.code, params)], "warnings": []}
    elif located is not None and before is not None and located.revision == before.revision:
        item |= {"errors": [], "warnings": [_message("warning", "revdelete-no-change", _date(located))]}
    item["id"] = result.rev_id
    return item if located is None else item | _state(call, located)


def _message(kind: str, code: str, params: list[Tree]) -> dict[str, Tree]:
    return {"message": code, "params": params, "code": code, "type": kind}


def _date(located: Located) -> list[Tree]:
    at = second_of(located)
    return [f"{at.day} {at:%B %Y}", f"{at:%H:%M}"]


def _state(call: Call, located: Located) -> dict[str, Tree]:
    known = facts(call.world.seed, located)
    return {
        "timestamp": iso(second_of(located)),
        "userhidden": known.user_hidden,
        "commenthidden": known.comment_hidden,
        "texthidden": known.text_hidden,
        "userid": known.user_id,
        "user": known.user,
        "comment": known.comment,
    }


ACTION: Final = Action("revisiondelete", PARAMETERS, run, posted=True, writes=True, token="csrf")
