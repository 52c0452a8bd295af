"""The topics of a program."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ProgramTopics:
    """Their names. `defers` tells whether anything is ever written to the deferral topic."""

    source: str
    output: str
    error: str
    deferral: str
    defers: bool

    def names(self) -> tuple[str, ...]:
        return self.source, self.output, self.error, self.deferral
