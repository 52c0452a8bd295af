"""The view of the pipeline, which shows everything and says when its query runs."""

from devkit.observe.checkpoint import Offsets
from devkit.observe.kafka.deferrals import Deferrals
from devkit.observe.observable import Observable
from devkit.observe.samples.sample import Sample
from devkit.programs.program_state import ProgramState
from devkit.traffic.publish import Publisher
from pipeline.events import OF_WORKERS

_REFUSED = 2


class SparkView:
    """The view of the pipeline on Spark."""

    says_when_it_runs = True
    writes_events = True
    worker_events = OF_WORKERS
    introduction = ""
    beginning = "its query began"
    shows_offsets = True
    has_checkpoint = True

    def __init__(self, state: ProgramState) -> None:
        self._state = state

    def shows_life(self) -> bool:
        """False: only its event `started` shows that its query began."""
        return False

    def refused(self, exit_code: int) -> bool:
        """True for exit code 2, after which a restart cannot help."""
        return exit_code == _REFUSED

    def committed(self) -> Offsets:
        """The offsets of the last sample; the checkpoint is not read again."""
        return self._state.committed

    def not_observable(self, deferrals: Deferrals) -> frozenset[Observable]:  # noqa: ARG002 - part of the interface
        """Always empty: the pipeline shows offsets, batches, failures, deferrals and sources."""
        return frozenset()

    def look(self, publisher: Publisher, sample: Sample, *, published_all: bool, last: bool) -> None:
        """Does nothing: the sample has everything."""
