"""Who takes part in a race: told where everything is, it starts processes that read the source to its end and on.

It is not told when to stop: the race ends when the broker has appended an output for every event.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.engine.stack import BenchStack, RunTopics
from devkit.guardian import ManagedProcess


@dataclass(frozen=True)
class Place:
    """All that a contestant is told; `directory` is its own, for logs, configuration and checkpoints."""

    stack: BenchStack
    topics: RunTopics
    events: int
    directory: Path

    @property
    def bootstrap(self) -> str:
        return self.stack.kafka.bootstrap

    @property
    def endpoint(self) -> str:
        return self.stack.mock.endpoint


class Contestant(Protocol):
    """`name` is what results are kept under; `settings` are what it runs with, for the results."""

    @property
    def name(self) -> str: ...
    @property
    def settings(self) -> dict[str, object]: ...

    def prepare(self) -> None:
        """What is done once and is not measured, such as making an environment."""

    def start(self, place: Place) -> list[ManagedProcess]:
        """Begin to read the source's four partitions from their beginning; one output for each event."""
        ...
