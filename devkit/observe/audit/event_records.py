"""The records of one event, each in one class.

    first           the earliest of all its records: how the event ended
    contradiction   the first record of another topic: an error event after the output, or an output after the error
    repeat          as the first of its own topic, byte for byte
    differing       not the first of its topic, and with other bytes than that

A job that writes at least once may write an event again, after a restart or where Spark ran a task again. The upstream
may answer otherwise then, so a repeat or a contradiction is no problem where the event was read again. A differing
record always is one, as the mock renders the same each time.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from devkit.observe.audit.order import Landing, earlier

Ending = Literal["output", "error", "lapsed"]
"""The topic that a record of an event is in."""


@dataclass
class EventRecords:
    """`error_text` and `error_type` are those of the first error event, `timed_out` whether an error event reports a
    timeout that was not the event's fate; `repeated` is the first of the repeats.
    """

    firsts: dict[Ending, Landing] = field(default_factory=dict)
    repeats: int = 0
    repeated: Landing | None = None
    differing: Counter[Ending] = field(default_factory=Counter)
    error_text: str = ""
    error_type: str | None = None
    timed_out: bool = False
    _digests: dict[Ending, str] = field(default_factory=dict)

    def add(self, ending: Ending, landing: Landing, digest: str) -> Literal["first", "repeat", "differing"]:
        """Add a record, in the order of its topic, and return its class within the topic."""
        if ending not in self._digests:
            self._digests[ending], self.firsts[ending] = digest, landing
            return "first"
        if self._digests[ending] == digest:
            self.repeats += 1
            self.repeated = self.repeated or landing
            return "repeat"
        self.differing[ending] += 1
        return "differing"

    def add_prefix(self, landing: Landing) -> None:
        """Count the first records of an output that was not completed, and written again: a repeat."""
        self.repeats += 1
        self.repeated = self.repeated or landing

    @property
    def first(self) -> Landing | None:
        """The earliest record; the output where an error event has the same time."""
        of_error = earlier(self.firsts.get("error"), self.firsts.get("lapsed"))
        return earlier(self.firsts.get("output"), of_error)

    @property
    def ended(self) -> Ending | None:
        """The topic of the first record; None without records."""
        return next((ending for ending, landing in self.firsts.items() if landing is self.first), None)

    @property
    def contradiction(self) -> Landing | None:
        """The first record in a topic that the event did not end in."""
        return next((landing for landing in self.firsts.values() if landing is not self.first), None)

    def excused_repeats(self, most: int) -> int:
        """The number of excused repeats, where `most` records after the first are no problem."""
        return min(self.repeats, most)

    def excuses_contradiction(self, most: int) -> bool:
        """Whether there is a contradiction, and `most` covers it beside the repeats."""
        return self.contradiction is not None and self.repeats < most

    def timed_out_conflicts(self, most: int) -> int:
        """The number of conflicts that are not excused and that a fetch which timed out may have caused."""
        if not self.timed_out:
            return 0
        contradicted = self.contradiction is not None and not self.excuses_contradiction(most)
        return contradicted + self.differing["error"]
