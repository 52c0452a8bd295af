"""What can be observed of the pipeline: it shows everything, and says when its query runs."""

from devkit.observe.checkpoint import Offsets
from devkit.observe.deferrals import Deferrals
from devkit.observe.sample import Sample
from devkit.observe.sight import Sight
from devkit.programs.state import ProgramState
from devkit.traffic.publish import Publisher

_REFUSED = 2


class SparkView:
    """Of the pipeline on Spark."""

    says_when_it_runs = True
    writes_events = True
    introduction = ""
    beginning = "its query began"
    shows_offsets = True

    def __init__(self, state: ProgramState) -> None:
        self._state = state

    def shows_life(self) -> bool:
        return False

    def refused(self, exit_code: int) -> bool:
        return exit_code == _REFUSED

    def committed(self) -> Offsets:
        return self._state.committed

    def unseen(self, deferrals: Deferrals) -> frozenset[Sight]:  # noqa: ARG002 - part of the interface
        return frozenset()

    def look(self, publisher: Publisher, sample: Sample, *, published_all: bool, last: bool) -> None:
        """The sample says it all."""
