"""What the bench of memory has the engine do: 200 pages of 15 MiB at once, or traffic of every kind for long."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from benchmarks.engine.contestant import Place
from benchmarks.engine.spark_engine import Engine
from benchmarks.engine.stack import BenchStack
from benchmarks.engine.workload import SEED, SourceEvent, Workload
from devkit.guardian import ManagedProcess
from mockapi.rules.model import Rule

MIB = 1024 * 1024
USUAL = "40ms"

# Of a hundred pages: how many of which kind, and what the mock makes of their revisions.
MIX: dict[str, tuple[int, dict[str, Any]]] = {
    "small": (60, {"latency": USUAL, "body": {"size": "4KiB", "changed_bytes": 128}}),
    "usual": (28, {"latency": USUAL}),
    "large": (5, {"latency": USUAL, "body": {"size": "3MiB"}}),
    "slow": (2, {"latency": "8s"}),
    "unknown": (3, {"status": 404}),
    "failing": (2, {"status": 503}),
}


class LargePages(Workload):
    """Edits of as many pages, each of whose revisions is of `page_bytes`."""

    def __init__(self, pages: int, *, page_bytes: int) -> None:
        super().__init__(pages, pages=pages)
        self.page_bytes = page_bytes

    def rules(self, *, slow: frozenset[int] = frozenset(), slow_latency: str = "40s") -> list[Rule]:  # noqa: ARG002 - all are alike
        body = {"size": self.page_bytes, "changed_bytes": MIB}
        return [Rule.model_validate({"name": "large", "do": {"latency": self.latency, "body": body}})]


class MixedPages(Workload):
    """Pages of the kinds of MIX in turn, at random; `events` come for as long as they are asked for."""

    def __init__(self, events: int, *, pages: int = 600) -> None:
        super().__init__(events, pages=pages)
        kinds = [kind for kind, (share, _) in MIX.items() for _ in range(share)]
        random = Random(SEED)
        self.kinds = [random.choice(kinds) for _ in range(pages)]

    def rules(self, *, slow: frozenset[int] = frozenset(), slow_latency: str = "40s") -> list[Rule]:  # noqa: ARG002 - see MIX
        rules = []
        for kind, (_, do) in MIX.items():
            revisions = [
                revision for page, pair in enumerate(self.revisions) for revision in pair if self.kinds[page] == kind
            ]
            rules.append(Rule.model_validate({"name": kind, "when": {"revision": revisions}, "do": do}))
        return rules

    def events(self) -> Iterator[SourceEvent]:
        """In no order of pages, so that kinds come as they come."""
        random = Random(SEED)
        pages = len(self.revisions)
        for index in range(self.count):
            yield self.event(index * pages + random.randrange(pages))


def populate(stack: BenchStack, workload: Workload) -> None:
    """Tell the mock; unlike `set_pages` nothing is rendered beforehand."""
    stack.mock.populate(seed=SEED, catalog=workload.catalog(), rules=workload.rules())


@dataclass(frozen=True)
class Watched(Engine):
    """The engine; `begun` is told its process id."""

    begun: Callable[[int], None] = print

    def start(self, place: Place) -> list[ManagedProcess]:
        processes = super().start(place)
        for process in processes:
            self.begun(process.pid)
        return processes
