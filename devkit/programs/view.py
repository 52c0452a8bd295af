"""The view of a program: what it shows of itself, from everything down to its output alone."""

from collections.abc import Collection
from typing import Protocol

from devkit.observe.checkpoint import Offsets
from devkit.observe.kafka.deferrals import Deferrals
from devkit.observe.observable import Observable
from devkit.observe.samples.sample import Sample
from devkit.traffic.publish import Publisher


class View(Protocol):
    """An arm and a supervisor ask it about a program."""

    @property
    def says_when_it_runs(self) -> bool:
        """Whether the program reports that it is ready; else it counts from the start of its process."""

    @property
    def writes_events(self) -> bool:
        """Whether its standard output may have events, a JSON object each line."""

    @property
    def worker_events(self) -> Collection[str]:
        """Names of events that its workers write on the standard error of its process; empty where there are none."""

    @property
    def introduction(self) -> str:
        """The line at the start on what can be observed; empty where that is everything."""

    @property
    def beginning(self) -> str:
        """The least that a process must have done to count, for the message "it ended before …"."""

    @property
    def shows_offsets(self) -> bool:
        """Whether it shows what has been committed."""

    @property
    def has_checkpoint(self) -> bool:
        """Whether it shows that by a checkpoint in Spark's layout, which has the offsets of each batch too."""

    def shows_life(self) -> bool:
        """Whether one that may not say when it runs has done anything."""

    def refused(self, exit_code: int) -> bool:
        """Whether a process that ended so has refused to run, which no restart can help."""

    def committed(self) -> Offsets:
        """The committed offsets of the source."""

    def not_observable(self, deferrals: Deferrals) -> frozenset[Observable]:
        """The observables that the program did not show."""

    def look(self, publisher: Publisher, sample: Sample, *, published_all: bool, last: bool) -> None:
        """Called after each sample, to set what the state cannot know from the sample alone."""
