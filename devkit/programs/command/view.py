"""What can be observed of a command: perhaps nothing but what leaves it.

Where no committed offsets are to be seen, an arm has drained when all that has to leave has left.
"""

import itertools
from collections.abc import Callable, Iterator

from devkit.observe.audit.arrivals import Arrival, read_topic
from devkit.observe.checkpoint import Offsets
from devkit.observe.deferrals import Deferrals
from devkit.observe.departed import Departed
from devkit.observe.sample import Sample
from devkit.observe.sight import Sight
from devkit.programs.state import ProgramState
from devkit.programs.topics import ProgramTopics
from devkit.traffic.publish import Publisher


class CommandView:
    """`requests` counts those that the mock got."""

    says_when_it_runs = False
    writes_events = True
    introduction = "the program under test: committed offsets and batches are observable only if it shows them"
    beginning = "it fetched or wrote anything"

    def __init__(self, state: ProgramState, bootstrap: str, topics: ProgramTopics, requests: Callable[[], int]) -> None:
        self._state, self._bootstrap, self._topics, self._requests = state, bootstrap, topics, requests
        self._departed = Departed(self._departures)

    @property
    def shows_offsets(self) -> bool:
        return bool(self._state.committed)

    def shows_life(self) -> bool:
        return self._requests() > 0 or any(True for _ in self._departures())

    def refused(self, exit_code: int) -> bool:  # noqa: ARG002 - part of the interface
        """Its exit codes are its own."""
        return False

    def committed(self) -> Offsets:
        """Where nothing shows offsets, all is done when all that had to leave has left, and before that nothing is."""
        state = self._state
        if self.shows_offsets:
            return state.committed
        return state.source_ends if state.drained else {}

    def unseen(self, deferrals: Deferrals) -> frozenset[Sight]:
        state = self._state
        seen: dict[Sight, bool] = {
            "offsets": self.shows_offsets,
            "batches": state.batches.any_begun,
            "words": state.has_words,
            "deferrals": bool(deferrals.standing.ever),
            "sources": state.left is None or state.left.names_sources,
        }
        return frozenset(sight for sight, is_seen in seen.items() if not is_seen)

    def look(self, publisher: Publisher, sample: Sample, *, published_all: bool, last: bool) -> None:
        if self.shows_offsets:
            return
        entries = publisher.manifest().entries
        due = {(it.topic, it.partition, it.offset) for it in entries if it.expected.fate != "filtered"}
        left = self._departed.look(sample.outputs + sample.errors, due, exact=last)
        self._state.left, self._state.drained = left, published_all and left.is_all

    def _departures(self) -> Iterator[Arrival]:
        names = (self._topics.output, self._topics.error)
        return itertools.chain.from_iterable(read_topic(self._bootstrap, name) for name in names)
