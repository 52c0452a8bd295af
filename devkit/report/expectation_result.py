"""An expectation of an arm with its measured value."""

from pydantic import BaseModel, ConfigDict

from devkit.observe.bounded_figure import BoundedFigure


class ExpectationResult(BaseModel):
    """`holds` is None where the needed values were not observable, or where the expectation depends on time and the
    machine was too busy: `short` says why. `slowdown` is how many times slower than a free machine it was over that
    time. Nothing excuses a `decisive` expectation. `figures` are the values that were compared with its bounds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    expected: str
    measured: str
    holds: bool | None
    depends_on_time: bool = False
    decisive: bool = False
    short: str = ""
    slowdown: float | None = None
    figures: tuple[BoundedFigure, ...] = ()

    @property
    def sentence(self) -> str:
        """For a person, as a statement."""
        return f"{self.short_sentence}: {self.short}" if self.short else self.short_sentence

    @property
    def short_sentence(self) -> str:
        """Without the reason in `short`."""
        text = f"{self.name}: expected {self.expected}, measured {self.measured}"
        return f"{text}, which says nothing" if self.short else text
