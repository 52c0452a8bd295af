"""What an arm expected, beside what was measured."""

from pydantic import BaseModel, ConfigDict

from devkit.observe.bounded_figure import BoundedFigure


class ExpectationResult(BaseModel):
    """One expectation with what was measured. `holds` is None when what it needs was not to be seen, or when it depends
    on time and the machine was `short` of it: that says what was short. `slowdown` is how many times slower than when
    it is free the machine was over the time that it depends on. A `decisive` one is excused by nothing. `figures` are
    what was held against its bounds; there are none where it has no bound, or nothing was measured.
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
        """Without what the machine was short of."""
        text = f"{self.name}: expected {self.expected}, measured {self.measured}"
        return f"{text}, which says nothing" if self.short else text
