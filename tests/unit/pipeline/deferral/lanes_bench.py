"""The driver's lanes around a ledger's topic in memory, with rounds that do what the test says, and a clock of its own.

Threads are real where the lanes have them: what is awaited is a condition, with a deadline that only a hang reaches.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.deferral.entry import Entry, Fact, Resolved
from pipeline.deferral.lanes import Lanes
from pipeline.deferral.wire import command_record, tombstone
from pipeline.errors import PipelineError
from pipeline.fetch.breaker import Answer
from tests.unit.pipeline.deferral.making import entry, offsets
from tests.unit.pipeline.deferral.memory_topic import TOPIC, Log, MemoryTopic

HANG_S = 20
NOW_MS = 50_000
TASK = 7
"""The attempt by which a batch ends."""


@dataclass
class Rounds:
    """Resolves all of its entries, or does what `facts` and `failures` say, when `go` is set; writes the tombstones."""

    log: Log
    go: threading.Event = field(default_factory=threading.Event)
    began: list[tuple[Entry, ...]] = field(default_factory=list)
    facts: list[list[Fact]] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)

    def run(self, entries: Sequence[Entry], *, epoch: int) -> list[Fact]:
        self.began.append(tuple(entries))
        assert self.go.wait(HANG_S)
        if self.failures:
            raise self.failures.pop(0)
        facts = self.facts.pop(0) if self.facts else [Resolved(one.position) for one in entries]
        gone = [fact.position for fact in facts if isinstance(fact, Resolved)]
        self.log.append([tombstone(position, topic=TOPIC, epoch=epoch) for position in gone])
        return facts


@dataclass
class Driver:
    """Lanes that have taken over, and what is around them."""

    lanes: Lanes
    topic: MemoryTopic
    rounds: Rounds
    logged: list[dict[str, Any]]
    now: list[float]
    answers: list[Answer | None]
    asked: list[tuple[str, str]]

    @property
    def log(self) -> Log:
        return self.topic.log

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.logged if line["event"] == name]

    def remaining(self) -> list[int]:
        """Offsets that are in the ledger as the topic has it."""
        return offsets(self.log.folded().entries.values())

    def batch(self, number: int, *wrote: Entry, **written: Any) -> None:
        """A batch whose tasks wrote these entries."""
        snapshot = self.lanes.plan(number)
        self.log.put(*wrote, epoch=self.lanes.epoch, batch=number, task=TASK)
        self.lanes.written(snapshot, number, {TASK}, **written)

    def finish_round(self, *facts: Fact, number: int = 1) -> None:
        """The rounds that are due come to their end, of which the next one reports these facts, if there are any."""
        if facts:
            self.rounds.facts.append(list(facts))
        self.rounds.go.set()
        self.look()
        until(lambda: len(self.events("slow_round")) == number)

    def wish(self, action: Any, offset: int) -> None:
        self.log.append([command_record(f"{action} {offset}", action, entry(offset).position, topic=TOPIC)])

    def look(self, *, after_s: float = 0) -> None:
        self.now[0] += after_s
        self.lanes.look()


MakeDriver = Callable[..., Driver]


def until(condition: Callable[[], Any]) -> None:
    """Wait for what another thread does."""
    waiting = threading.Event()
    for _ in range(HANG_S * 200):
        if condition():
            return
        waiting.wait(0.005)
    raise TimeoutError


@dataclass
class WaitingBatch:
    """A batch that waits for its plan, which may be an error."""

    thread: threading.Thread
    plans: list[Any]

    @property
    def plan(self) -> Any:
        """When it is there."""
        self.thread.join(HANG_S)
        (plan,) = self.plans
        return plan


def waiting_batch(ours: Driver, number: int = 7) -> WaitingBatch:
    plans: list[Any] = []

    def plan() -> None:
        try:
            plans.append(ours.lanes.plan(number))
        except PipelineError as error:
            plans.append(error)

    thread = threading.Thread(target=plan)
    thread.start()
    until(lambda: ours.events("waiting"))
    return WaitingBatch(thread, plans)
