"""What who asks may see: revisions as the wiki has them, as the rules of the request want them, and by their rights."""

from dataclasses import dataclass
from typing import Literal

from mockapi.api.action.call import Call
from mockapi.api.action.targets import revision_target
from mockapi.plan import AS_BUILT, WikiState
from mockapi.wiki.catalog import CatalogPage, HiddenPart, Located

_RIGHTS_TO_SEE_HIDDEN = ("deletedtext", "deletedhistory")
_RIGHTS_TO_SEE_SUPPRESSED = ("suppressrevision", "viewsuppressed")


@dataclass(frozen=True, slots=True)
class HiddenParts:
    """What is hidden of a revision from readers, and whether from administrators too; `seen` says that who asks sees
    it all the same.
    """

    parts: frozenset[HiddenPart]
    suppressed: bool
    seen: bool

    def sight(self, part: HiddenPart) -> Literal["open", "seen", "hidden"]:
        """Of one part: shown to all, or to who asks though it is hidden, or not."""
        if part not in self.parts:
            return "open"
        return "seen" if self.seen else "hidden"


def sees_hidden(call: Call, *, suppressed: bool = False) -> bool:
    """Whether who asks sees what is hidden from readers, or even from administrators."""
    return any(map(call.may, _RIGHTS_TO_SEE_SUPPRESSED if suppressed else _RIGHTS_TO_SEE_HIDDEN))


def hidden(call: Call, located: Located) -> HiddenParts:
    """By the catalog and the request's faults together, and whether this user sees it all the same."""
    state, revision = _state(call, located.revision.rev_id), located.revision
    suppressed = revision.suppressed or state.suppressed
    parts = frozenset(revision.hidden) | state.hidden
    return HiddenParts(parts, suppressed, bool(parts) and sees_hidden(call, suppressed=suppressed))


def revision(call: Call, rev_id: int) -> Located | None:
    """The revision, unless it does not exist or a rule has it missing."""
    located = call.wiki.revision(rev_id)
    return None if located is None or _state(call, rev_id).missing else located


def current(call: Call, page: CatalogPage) -> Located | None:
    """The newest revision of a page that no rule has missing; None if there is none."""
    if not call.world.rules:
        return call.wiki.latest(page)
    newest_first = (Located(page, revision) for revision in reversed(page.revisions))
    return next((located for located in newest_first if not _state(call, located.revision.rev_id).missing), None)


def _state(call: Call, rev_id: int) -> WikiState:
    if not call.world.rules:
        return AS_BUILT
    return call.plan_of(revision_target(call.wiki, rev_id)).state
