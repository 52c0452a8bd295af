"""How much a pipeline shows of itself: the kit's everything, somebody's own perhaps nothing but what leaves it.

Where no committed offsets are to be seen, an arm has drained when all that has to leave has left.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Protocol

from devkit.observe.arm import Sample
from devkit.observe.audit.arrivals import Arrival, read_topic
from devkit.observe.checkpoint import Offsets
from devkit.observe.deferrals import Deferrals
from devkit.observe.departed import Departed
from devkit.observe.sight import Sight
from devkit.scenario.arm_state import ArmState
from devkit.traffic.publish import Publisher
from pipeline.config import PipelineConfig


class View(Protocol):
    """What an arm asks about its pipeline."""

    @property
    def says_when_it_runs(self) -> bool:
        """Whether the pipeline tells when its query begins; else it counts from the start of its process."""

    @property
    def shows_offsets(self) -> bool:
        """Whether the checkpoint tells what has been committed."""

    def shows_life(self) -> bool:
        """Whether one that may not say when it runs has done anything: fetched a page or written a record."""

    def committed(self) -> Offsets:
        """Up to where the source is done with."""

    def unseen(self, deferrals: Deferrals) -> frozenset[Sight]:
        """What the pipeline did not show."""

    def look(self, publisher: Publisher, sample: Sample, *, published_all: bool, last: bool) -> None:
        """After each sample: what `ArmState` cannot know from that alone."""


class KitView:
    """Of the kit's own pipeline."""

    says_when_it_runs = True
    shows_offsets = True

    def __init__(self, state: ArmState) -> None:
        self._state = state

    def shows_life(self) -> bool:
        return False

    def committed(self) -> Offsets:
        return self._state.committed

    def unseen(self, deferrals: Deferrals) -> frozenset[Sight]:  # noqa: ARG002 - part of the interface
        return frozenset()

    def look(self, publisher: Publisher, sample: Sample, *, published_all: bool, last: bool) -> None:
        """The sample says it all."""


class OwnView:
    """Of somebody's own pipeline. `requests` counts those that the mock got."""

    says_when_it_runs = False

    def __init__(self, state: ArmState, config: PipelineConfig, requests: Callable[[], int]) -> None:
        self._state, self._config, self._requests = state, config, requests
        self._departed = Departed(self._departures)

    @property
    def shows_offsets(self) -> bool:
        return bool(self._state.committed)

    def shows_life(self) -> bool:
        return self._requests() > 0 or any(True for _ in self._departures())

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
        bootstrap, sink = self._config.source.bootstrap_servers, self._config.sink
        return itertools.chain.from_iterable(read_topic(bootstrap, name) for name in (sink.topic, sink.error_topic))
