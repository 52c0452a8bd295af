"""Runs of `apply` into a triple store whose data is new each time, followed by the offset that the store has.

restore the empty data ─▶ start apply ─▶ looks at the next offset … ─▶ SIGTERM ─▶ compare the store with the truth
"""

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

from benchmarks.engine.stack import BenchStack
from benchmarks.engine.usage import Usage, UsageWatch
from devkit.errors import StackError
from devkit.guardian import ManagedProcess
from devkit.observe.store_difference import EntityTruth
from devkit.observe.wikibase.store_comparison import compare_store
from devkit.programs.apply_program import ApplyProgram
from devkit.programs.places import Places, StorePlace
from devkit.programs.program_context import ProgramContext
from devkit.stack.parts.part_life import require_running
from devkit.stack.parts.triple_store import start_triple_store
from devkit.stack.stack import CLAIM_CHECKS, Stack
from devkit.waiting import wait_until

DEADLINE = timedelta(minutes=30)
_LOOK = timedelta(milliseconds=100)
_ENDING = timedelta(minutes=2)
_REQUEST_TRIPLES = 10_000
_SHOWN = 3
_COUNTED = ("requests", "mutations", "cleared", "deleted", "inserted", "repeats", "dropped", "store_s", "poll_s")


@dataclass(frozen=True)
class AppliedRun:
    """`looks` have the time (ms since 1970) and the store's next offset, whenever it had changed. `counts` are those
    of `mutations_applied` in all. Both times are those of the process: it begins to read, and the last look.
    """

    began_ms: int
    looks: Sequence[tuple[int, int]]
    counts: Mapping[str, float]
    usage: Usage

    @property
    def seconds(self) -> float:
        return (self.looks[-1][0] - self.began_ms) / 1000

    def cores(self, begin_ms: int, end_ms: int) -> dict[str, float]:
        """Processor seconds a second from one moment to another, by role."""
        seconds = max(end_ms - begin_ms, 1) / 1000
        used = self.usage.between(begin_ms / 1000, end_ms / 1000)
        return {role: round(cpu_s / seconds, 2) for role, cpu_s in sorted(used.items())}


class TripleStoreRuns:
    """One triple store of the stack. The first copy of its data is that of an empty one. Methods raise StackError."""

    def __init__(self, stack: BenchStack) -> None:
        assert stack.store
        self._stack = stack
        self._store, self._part = start_triple_store(stack.guardian, stack.logs)
        self._part.await_ready()
        self.copy()
        self._whole = Stack(stack.kafka, stack.store, stack.mock, {}, triple_store=self._store)

    def copy(self) -> None:
        """What the store has is what later runs begin with."""
        self._part.pull("copy")

    def restore(self) -> None:
        """Give it the data of the copy. The process is a new one."""
        self._part.pull("restore")

    def change_filler(self, verb: str, count: int) -> None:
        """INSERT or DELETE so many triples that are of no entity of the operations."""
        triples = filler(count)
        while block := [*islice(triples, _REQUEST_TRIPLES)]:
            self._store.change(f"{verb} DATA {{ {' '.join(block)} }}")

    def run(
        self,
        topic: str,
        settings: Mapping[str, Any],
        *,
        directory: Path,
        is_done: Callable[[int], bool],
        beside: Mapping[str, ManagedProcess] = MappingProxyType({}),
        is_first: bool = True,
    ) -> AppliedRun:
        """Applies the topic until `is_done`, which is given the store's next offset at each look: from its beginning,
        or where it is not the first run, from the store's offset on.

        `beside` are processes that work at the same time, by their group.
        """
        directory.mkdir(parents=True, exist_ok=True)
        configured = ApplyProgram().configure(self._places(), {"source": {"topic": topic}, "apply": settings})
        context = ProgramContext(self._stack.guardian, self._whole, "bench", directory, directory)
        follower = configured.follows(context)
        looks: list[tuple[int, int]] = []
        launch = configured.launch(context)
        addition = launch.first if is_first else launch.again
        process = launch.spawn(self._stack.guardian, "apply", logs=directory, addition=addition)
        try:
            watch = self._watch({**beside, "apply": process})

            def is_applied() -> bool:
                for running in (process, *beside.values()):
                    require_running(running)
                offset = next(iter((follower.look() or {}).values()), 0)
                if not looks or looks[-1][1] != offset:
                    looks.append((time.time_ns() // 1_000_000, offset))
                return is_done(offset)

            wait_until(is_applied, what="all mutations to be applied", deadline=DEADLINE, interval=_LOOK)
            usage = watch.stop()
            process.signal(signal.SIGTERM)
            wait_until(lambda: process.exit_code is not None, what="apply to end", deadline=_ENDING)
            if process.exit_code:
                require_running(process)
        finally:
            process.kill_tree()
        events = [*_logged(process.stdout)]
        began = next(event["at"] for event in events if event["event"] == "apply_started")
        counts = Counter[str]()
        for event in events:
            if event["event"] == "mutations_applied":
                counts.update({name: event[name] for name in _COUNTED})
        return AppliedRun(round(datetime.fromisoformat(began).timestamp() * 1000), looks, counts, usage)

    def require_truth(self, truths: Sequence[EntityTruth], run: str) -> None:
        """Raises StackError where an entity is another one than it must be."""
        differing = compare_store(self._store, truths).differing
        if differing:
            shown = ", ".join(map(str, differing[:_SHOWN]))
            raise StackError(
                f"{run}: {len(differing)} of {len(truths)} entities in the store are wrong, such as {shown}"
            )

    def _places(self) -> Places:
        assert self._stack.store
        return Places(
            bootstrap=self._stack.kafka.bootstrap,
            mock_endpoint=self._stack.mock.endpoint,
            s3_endpoint=self._stack.store.endpoint,
            checkpoint="",
            claim_bucket=CLAIM_CHECKS,
            triple_store=StorePlace(self._store.query, self._store.update),
        )

    def _watch(self, processes: Mapping[str, ManagedProcess]) -> UsageWatch:
        of_old = {self._stack.broker_pid: "broker", self._stack.mock_pid: "mock", self._part.life.pid: "triple store"}
        watch = UsageWatch(of_old | {process.pid: group for group, process in processes.items()})
        watch.start(of_old=frozenset(of_old))
        return watch


def filler(count: int) -> Iterator[str]:
    """Triples in the shape of statements, four each, of entities with large numbers."""
    base = "http://www.wikidata.org"
    for number in range(count):
        statement, part = divmod(number, 4)
        entity, prop = f"Q{9_000_000_000 + statement // 50}", f"P{statement % 97 + 1}"
        node = f"<{base}/entity/statement/{entity}-{statement}>"
        yield (
            f"<{base}/entity/{entity}> <{base}/prop/{prop}> {node} .",
            f'{node} <{base}/prop/statement/{prop}> "value {statement}" .',
            f"{node} <http://wikiba.se/ontology#rank> <http://wikiba.se/ontology#NormalRank> .",
            f"{node} <http://www.w3.org/ns/prov#wasDerivedFrom> <{base}/reference/{statement % 1_000:040}> .",
        )[part]


def _logged(file: Path) -> Iterator[dict[str, Any]]:
    return (orjson.loads(line) for line in file.read_bytes().splitlines() if line.startswith(b"{"))
