"""What a reader sees of a revision: as the catalog and the writes have it, and as the rules of the request want it."""

from dataclasses import dataclass

from mockapi.plan import AS_BUILT, Plan
from mockapi.wiki.catalog import HiddenPart
from mockapi.wiki.located import Located


@dataclass(frozen=True, slots=True)
class Visible:
    """A revision that is there, and what of it is hidden."""

    located: Located
    hidden: frozenset[HiddenPart]

    @property
    def public(self) -> bool:
        """Whether nothing is hidden, so that caches may keep it."""
        return not self.hidden


def visible(located: Located | None, plan: Plan) -> Visible | None:
    """The revision under `plan`; None when it is as if it were not there."""
    if located is None or plan.state.missing:
        return None
    hidden = frozenset(located.revision.hidden)
    return Visible(located, hidden if plan.state is AS_BUILT else hidden | plan.state.hidden)
