"""What a driver of the model knows of outages: which wikis it leaves alone, and which tries it gives back."""

from collections.abc import Iterable, Mapping, Sequence

from pipeline.deferral.entry import Entry
from pipeline.deferral.ledger import Ledger
from pipeline.deferral.outages import LostTries
from pipeline.records.record import Position
from tests.unit.pipeline.deferral.world import Violation


class KnownOutages:
    """`open` are the wikis that are known to be down; `number` counts those that ever were."""

    def __init__(self) -> None:
        self.open: set[str] = set()
        self.lost_tries = LostTries()
        self._ever: list[str] = []

    @property
    def number(self) -> int:
        return len(self._ever)

    def found(self, wikis: set[str]) -> None:
        """A batch has found these to be down."""
        self.open |= wikis
        self._ever += sorted(wikis)

    def in_round(self, rewritten: Sequence[Entry], known_before: int) -> set[Position]:
        """The entries that a round tried at wikis which were open since it began, when there were so many outages."""
        met = self.open | set(self._ever[known_before:])
        self.lost_tries.in_round(entry for entry in rewritten if entry.wiki_id not in met)
        return {entry.position for entry in rewritten if entry.wiki_id in met}

    def check_untried(self, entries: Iterable[Entry]) -> None:
        """Raises Violation of P9, for what a lane is given."""
        for entry in entries:
            if entry.wiki_id in self.open and not entry.dropped:
                raise Violation(f"P9: {entry.position} is tried, though its wiki is known to be down")

    def check_tries(self, ledger: Ledger, before: Mapping[Position, int]) -> None:
        """Raises Violation of P9, for what the batch that found out tried."""
        for position, tries in before.items():
            entry = ledger.get(position)
            if entry is not None and entry.attempt > tries:
                raise Violation(f"P9: {position} has lost a try to an outage")
