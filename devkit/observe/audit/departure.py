"""How one event was emitted: each record of it in one class.

    first           the earliest of all its records: how the event ended
    contradiction   the first record of another topic: an error event after the output, or an output after the error
    repeat          as the first of its own topic, byte for byte
    differing       not the first of its topic, and with other bytes than that

A job that writes at least once may write an event again, after a restart or where Spark ran a task again, and the
upstream may answer otherwise then.
So a repeat and a contradiction are no problem where the event was read again; a differing record always is, as the mock
renders the same each time.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from devkit.observe.audit.order import Landing, earlier

Ending = Literal["output", "error", "lapsed"]
"""The topic that a record of an event is in."""


@dataclass
class Departure:
    """The records of an event so far. `error_text` is what its first error event says, `timed_out` whether any of them
    reports a timeout that was not the event's fate; `repeated` is the first of its repeats.
    """

    firsts: dict[Ending, Landing] = field(default_factory=dict)
    repeats: int = 0
    repeated: Landing | None = None
    differing: Counter[Ending] = field(default_factory=Counter)
    error_text: str = ""
    timed_out: bool = False
    _digests: dict[Ending, str] = field(default_factory=dict)

    def take(self, ending: Ending, landing: Landing, digest: str) -> Literal["first", "repeat", "differing"]:
        """What the record is among those of its own topic, which come in their order."""
        if ending not in self._digests:
            self._digests[ending], self.firsts[ending] = digest, landing
            return "first"
        if self._digests[ending] == digest:
            self.repeats += 1
            self.repeated = self.repeated or landing
            return "repeat"
        self.differing[ending] += 1
        return "differing"

    @property
    def first(self) -> Landing | None:
        """In doubt the output: records of one moment in two topics have no order."""
        of_error = earlier(self.firsts.get("error"), self.firsts.get("lapsed"))
        return earlier(self.firsts.get("output"), of_error)

    @property
    def ended(self) -> Ending | None:
        """By the first record; None before there is one."""
        return next((ending for ending, landing in self.firsts.items() if landing is self.first), None)

    @property
    def contradiction(self) -> Landing | None:
        """Of the first record in a topic that the event did not end in."""
        return next((landing for landing in self.firsts.values() if landing is not self.first), None)

    def excused_repeats(self, most: int) -> int:
        """Of the repeats, where `most` records after the first are no problem."""
        return min(self.repeats, most)

    def excuses_contradiction(self, most: int) -> bool:
        """Whether there is one, and room for it beside the repeats."""
        return self.contradiction is not None and self.repeats < most

    def timed_out_conflicts(self, most: int) -> int:
        """Of the conflicts that are not excused, those that a fetch which timed out may have made."""
        if not self.timed_out:
            return 0
        contradicted = self.contradiction is not None and not self.excuses_contradiction(most)
        return contradicted + self.differing["error"]
