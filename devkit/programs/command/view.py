"""The view of a command, which may show nothing but its output.

Where no committed offsets are observable, an arm has drained when all events that have to be emitted are. Where they
are, it has when all are committed; but a program may commit what it still works at, which is not lost before its time:
unless all is emitted, nothing must have moved for `QUIET`.
"""

import itertools
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Final

from devkit.observe.audit.arrivals import Arrival, read_topic
from devkit.observe.checkpoint import Offsets
from devkit.observe.kafka.deferrals import Deferrals
from devkit.observe.kafka.emitted import Emissions, due_events
from devkit.observe.observable import Observable
from devkit.observe.samples.sample import Sample
from devkit.programs.program_state import ProgramState
from devkit.programs.program_topics import ProgramTopics
from devkit.traffic.publish import Publisher

QUIET: Final = timedelta(seconds=10)


class CommandView:
    """`requests` counts those that the mock got."""

    says_when_it_runs = False
    writes_events = True
    worker_events = ()
    introduction = "the program under test: what it does not show is not judged (docs/own-pipeline.md says how)"
    beginning = "it fetched or wrote anything"

    def __init__(self, state: ProgramState, bootstrap: str, topics: ProgramTopics, requests: Callable[[], int]) -> None:
        self._state, self._bootstrap, self._topics, self._requests = state, bootstrap, topics, requests
        self._emissions = Emissions(self._emitted)
        self._moved, self._moved_at_s = (0, 0, 0), 0.0

    @property
    def shows_offsets(self) -> bool:
        """False until a sample has found a committed offset, in the checkpoint that the stack gave it or where it says
        that they are.
        """
        return bool(self._state.committed)

    @property
    def has_checkpoint(self) -> bool:
        """What it says of the place goes before a checkpoint."""
        return self._state.stated_offsets is None and self.shows_offsets

    def shows_life(self) -> bool:
        """Whether the mock got a request or a record was written; reads the topics. Raises StackError."""
        return self._requests() > 0 or any(True for _ in self._emitted())

    def refused(self, exit_code: int) -> bool:  # noqa: ARG002 - part of the interface
        """Its exit codes are its own."""
        return False

    def committed(self) -> Offsets:
        """Where nothing shows offsets, all is done when every event is emitted that has to be, before that nothing."""
        state = self._state
        if self.shows_offsets:
            return state.committed
        return state.source_ends if state.drained else {}

    def not_observable(self, deferrals: Deferrals) -> frozenset[Observable]:
        """Judged by what was seen up to now, so it is final only at the arm's end."""
        state = self._state
        seen: dict[Observable, bool] = {
            "offsets": self.shows_offsets,
            "checkpoint": self.has_checkpoint,
            "batches": state.batches.any_begun,
            "words": state.has_words,
            "deferrals": bool(deferrals.entries.ever),
            "sources": state.emitted is None or state.emitted.names_sources,
        }
        return frozenset(observable for observable, is_seen in seen.items() if not is_seen)

    def look(self, publisher: Publisher, sample: Sample, *, published_all: bool, last: bool) -> None:
        """Sets the state's `drained`, and its `emitted` where it shows no offsets. Raises StackError."""
        is_quiet = self._is_quiet(sample)
        if self.shows_offsets and (is_quiet or not self._state.drained):
            return
        due = due_events(publisher.manifest())
        emitted = self._emissions.look(sample.outputs + sample.errors, due, exact=last)
        self._state.drained = published_all and emitted.is_all
        if not self.shows_offsets:
            self._state.emitted = emitted

    def _is_quiet(self, sample: Sample) -> bool:
        moved = sample.requests, sample.outputs, sample.errors
        if sample.in_flight or moved != self._moved:
            self._moved, self._moved_at_s = moved, sample.at_s
        return sample.at_s - self._moved_at_s >= QUIET.total_seconds()

    def _emitted(self) -> Iterator[Arrival]:
        names = (self._topics.output, *self._topics.errors)
        return itertools.chain.from_iterable(read_topic(self._bootstrap, name) for name in names)
