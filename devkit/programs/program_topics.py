"""The topics of a program."""

from collections.abc import Mapping
from dataclasses import dataclass

TOPIC_ROLES = ("source", "output", "error", "deferred")
"""What a fault calls the topics of a program, whatever their names are."""


@dataclass(frozen=True)
class ProgramTopics:
    """Their names. `defers` is whether anything is ever written to the deferral topic. `lapsed` is the topic of
    lapsed_action events, None for a program that makes none. `event_time` is whether the program goes by the time
    that the records of its sources have from their producers. `fetch_failure` is the topic of fetch_failure events,
    None for a program that makes none, and so is `inconsistency` that of state_inconsistency events.

    `sources` are all that it reads, at least one; traffic that names no topic goes to the first.
    """

    sources: tuple[str, ...]
    output: str
    error: str
    deferral: str
    defers: bool
    lapsed: str | None = None
    event_time: bool = False
    fetch_failure: str | None = None
    inconsistency: str | None = None

    @property
    def source(self) -> str:
        """The first of those that it reads."""
        return self.sources[0]

    @property
    def by_role(self) -> Mapping[str, str]:
        """Their names by role."""
        return dict(zip(TOPIC_ROLES, (self.source, self.output, self.error, self.deferral), strict=True))

    @property
    def errors(self) -> tuple[str, ...]:
        """The topics that an event without output ends in, the error topic first."""
        topics = self.error, self.fetch_failure, self.inconsistency
        return tuple(topic for topic in topics if topic is not None)

    @property
    def written(self) -> tuple[str, ...]:
        """The topics that an event may end in."""
        return self.output, *self.errors, *(() if self.lapsed is None else (self.lapsed,))

    def names(self) -> tuple[str, ...]:
        """The deferral topic is among them even where nothing is ever written to it."""
        return *self.sources, *self.written, self.deferral
