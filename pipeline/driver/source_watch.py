"""Whether the source's topics are still those that the job began to read.

A topic that was deleted and made again has other events at the same offsets. Neither source tells: as soon as the new
one is longer than the old one was read, its position looks right, and what lies before that would never be read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pipeline.errors import RefusedError


@dataclass(frozen=True)
class SourceWatch:
    """`known` are Kafka's ids of the topics by name, as the start found them; `ask` tells those of now, without those
    that no broker reports.
    """

    known: Mapping[str, str]
    ask: Callable[[], Mapping[str, str]]

    def look(self) -> None:
        """Raises RefusedError for a topic that was made again: a restart would be refused too."""
        found = self.ask()
        again = sorted(one for one, its in self.known.items() if found.get(one, its) != its)
        if again:
            raise RefusedError(
                "; ".join(f"id of topic {one} {self.known[one]}, not {found[one]}" for one in again),
                hint="the topic was made again while the job ran, and of the new one's events some were not read: "
                "begin at a checkpoint of its own, with --new earliest",
            )
