"""The topics of a program."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ProgramTopics:
    """Their names. `defers` is whether anything is ever written to the deferral topic. `lapsed` is the topic of
    lapsed_action events, None for a program that makes none. `event_time` is whether the program goes by the time
    that the records of its sources have from their producers.

    `sources` are all that it reads, at least one; traffic that names no topic goes to the first.
    """

    sources: tuple[str, ...]
    output: str
    error: str
    deferral: str
    defers: bool
    lapsed: str | None = None
    event_time: bool = False

    @property
    def source(self) -> str:
        """The first of those that it reads."""
        return self.sources[0]

    def names(self) -> tuple[str, ...]:
        """The deferral topic is among them even where nothing is ever written to it."""
        lapsed = () if self.lapsed is None else (self.lapsed,)
        return *self.sources, self.output, self.error, self.deferral, *lapsed
