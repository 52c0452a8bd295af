"""Tries that failed before anybody knew of an outage: when it is found out, they are given back.

A worker knows of an outage when enough requests have failed, and the driver at the end of the batch. What failed until
then in the batch, and in slow rounds that ended since the batch before it, has been written with one try more. Not
given back are the last try of an event, which is an error event by then, and what a crash comes before.
"""

from collections.abc import Iterable, Set

from pipeline.deferral.entry import Entry
from pipeline.fetch.breaker import ENDPOINT, Scope
from pipeline.records.record import Position


class LostTries:
    """For one lock, like the ledger."""

    def __init__(self) -> None:
        self._of_rounds: dict[Position, str | None] = {}

    def in_round(self, rewritten: Iterable[Entry]) -> None:
        """These entries were tried by a slow round that has ended, and no outage was known of."""
        self._of_rounds.update((entry.position, entry.wiki_id) for entry in rewritten)

    def by(self, found: Set[Scope], written: Iterable[Entry]) -> list[Position]:
        """The entries whose last try met what a batch has `found` to be open, once: of those that it has `written`, and
        of the rounds since the batch before.
        """
        tries = self._of_rounds | {entry.position: entry.wiki_id for entry in written if entry.kind == "stuck"}
        self._of_rounds = {}
        return [position for position, wiki_id in tries.items() if ENDPOINT in found or wiki_id in found]
