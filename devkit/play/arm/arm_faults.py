"""Runs the faults of an arm's timeline by what is observed of the arm, and logs them."""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial

import psutil

from devkit.errors import StackError, UsageError
from devkit.faults.condition import Figure, Seen
from devkit.faults.fault import Context, MainProgram, Need, Undo
from devkit.faults.journal import Journal
from devkit.faults.kafka.add_partitions import AddPartitions
from devkit.faults.kafka.cluster import cluster_id
from devkit.faults.request_watch import watch_for
from devkit.faults.runner import Happened, Runner
from devkit.faults.shortfall import Extent, describe_shortfall
from devkit.faults.timeline_item import TimelineItem
from devkit.observe.arm_observation import TimelineEvidence
from devkit.observe.checkpoint import Checkpoint
from devkit.observe.observable import UPSTREAM, Observable
from devkit.observe.timeline.kit_events import FaultBegun, FaultEnded, PartsNotObservable, ProcessEnded, ProgramEvent
from devkit.play.arm.run_context import ArmInPlay
from devkit.programs.hosts_file import HostsFile
from devkit.programs.role import Role
from devkit.stack.stack import Stack
from pipeline.events import BatchCommitted, BatchStarted, BatchWritten

BATCH_EVENTS = (BatchStarted, BatchWritten, BatchCommitted)


class ArmFaults:
    """See `devkit.play.arm.run_context.ArmHook`. `topics` are the arm's by role, `checkpoint` is its main program's;
    `events` are published in all.
    """

    def __init__(
        self,
        items: Sequence[TimelineItem],
        arm: ArmInPlay,
        stack: Stack,
        run_id: str,
        *,
        topics: Mapping[str, str],
        checkpoint: Checkpoint,
        events: int,
        seed: int,
        hosts: HostsFile | None = None,
    ) -> None:
        self._main = MainProgram(checkpoint, lambda: arm.programs[0].tree())
        self._arm, self._stack, self._topics, self._seed, self._hosts = arm, stack, topics, seed, hosts
        self._items, self._journal = items, Journal(run_id)
        self._runner = Runner(
            items,
            journal=self._journal,
            context=self._context,
            excuse=stack.excused,
            clock=arm.clock.now_s,
            report=self._report,
            events=events,
            watch=watch_for(items, stack.proxy),
        )
        self._batches: set[int] = set()
        self._by_hand: set[str] = set()
        self._events: set[str] = set()
        self._failed_s = -math.inf
        self._extent, self._published = Extent(), events
        self.seen = Seen()
        """The newest state that conditions were checked against."""

    def begin(self) -> None:
        """Starts the thread that begins and ends what is due; a timeline without items needs none."""
        self._runner.start()

    def note(self, event: ProgramEvent, *, is_of_main: bool = True) -> None:
        """Note an event of a program or its process. Only the main program's batches count, from its first after a
        warm-up on.
        """
        if is_of_main and isinstance(event, BATCH_EVENTS) and event.batch < self._arm.programs[0].state.first_batch:
            return
        self._events.add(event.event)
        if isinstance(event, ProcessEnded) and event.exit_code > 0:
            self._failed_s = self._arm.clock.now_s()
        if not is_of_main:
            return
        match event:
            case BatchCommitted():
                self._batches.add(event.batch)
            case BatchStarted(batch=batch) if batch > 0:
                self._batches.add(batch - 1)  # committed, although Spark reports it later

    def look(self) -> None:
        """Check conditions against the newest sample. Raises StackError if a fault could not be ended."""
        main, sample = self._arm.programs[0], self._arm.state.sample
        figures: dict[Figure, int] = {}
        if self._arm.state.samples:
            figures |= {
                "outputs": sample.outputs,
                "errors": sample.errors,
                "requests": sample.requests,
                "deferred": sample.deferred,
                "restarts": main.supervisor.restarts,
            }
            if main.view.shows_offsets:
                figures |= {"lag": sample.lag, "committed": sample.committed}
        running = frozenset(run.label for run in self._arm.programs if run.is_running)
        self._by_hand |= {page.entry.name for page in self._journal.pages() if page.entry.holder is not None}
        first = main.state.first_batch
        batches = frozenset(batch - first for batch in self._batches if batch >= first)
        met = frozenset(rule for rule, count in sample.faults.items() if count) | sample.faults_in_flight.keys()
        seen = Seen(figures, running, batches, frozenset(self._events), met)
        self.seen, self._extent = seen, self._extent.grown(seen)
        self._runner.look(seen)

    @contextlib.contextmanager
    def excusing(self) -> Iterator[None]:
        """Context for sampling the stack: an error while a fault holds a part is logged, not raised."""
        held = self._runner.held
        try:
            yield
        except StackError as error:
            held |= self._runner.held
            if not held:
                raise
            self._arm.log.add(PartsNotObservable(parts=tuple(sorted(held)), error=str(error)))

    @property
    def blinds(self) -> bool:
        """Whether a fault keeps a part from answering, so that sampling would block."""
        return self._runner.blinds

    @property
    def stopped(self) -> frozenset[str]:
        """The parts that a fault has stopped now."""
        return self._runner.stopped

    def end(self) -> None:
        """End all faults and wait for the parts. Raises StackError if a part does not recover."""
        self._runner.end()

    def look_for_records(self) -> None:
        """After the programs' end, look for records in topics and partitions made by faults. Raises StackError."""
        self._runner.look_for_records()

    @property
    def by_hand(self) -> tuple[str, ...]:
        """The names of faults that a person added with `devkit fault add`."""
        return tuple(sorted(self._by_hand))

    @property
    def not_observable(self) -> frozenset[Observable]:
        """What cannot be observed after the faults: a restarted mock has lost its journal."""
        forgets = any(
            outcome.from_s is not None and Need("mock-api", "restart") in item.do.needs()
            for item, outcome in zip(self._items, self._runner.happened, strict=True)
        )
        return UPSTREAM if forgets else frozenset()

    @property
    def grown(self) -> frozenset[str]:
        """Topics that got more partitions: a page may change its partition there."""
        return frozenset(
            self._topics.get(item.do.topic, item.do.topic)
            for item, outcome in zip(self._items, self._runner.happened, strict=True)
            if outcome.from_s is not None and isinstance(item.do, AddPartitions)
        )

    def evidence(self) -> tuple[TimelineEvidence, ...]:
        """One for each item, in the file's order; `did` says why an item never began."""
        return tuple(
            _evidence(
                self._excuse_unreached(outcome)
                if outcome.from_s is not None
                else replace(outcome, did=self._describe_unbegun(item))
            )
            for item, outcome in zip(self._items, self._runner.happened, strict=True)
        )

    def _excuse_unreached(self, outcome: Happened) -> Happened:
        """A program that failed after the fault may have met it without writing a record."""
        assert outcome.from_s is not None
        return replace(outcome, unreached="") if self._failed_s >= outcome.from_s else outcome

    def _describe_unbegun(self, item: TimelineItem) -> str:
        """Why the item never began."""
        if item.when is None or (item.after is not None and item.when.holds(self._extent.last, self._published)):
            return "the arm ended before"
        return describe_shortfall(item.when, self._extent, self._published)

    def _context(self, plan: Callable[[Undo], None]) -> Context:
        return Context(
            self._stack.parts,
            self._stack.kafka.direct,
            plan,
            topics=self._topics,
            processes=self._processes,
            is_guest=bool(self._stack.prefix),
            seed=self._seed,
            run_id=self._journal.run_id,
            main=self._main,
            triple_store=self._stack.triple_store,
            hosts=self._hosts,
            cluster_id=partial(cluster_id, self._stack.kafka.direct),
        )

    def _processes(self, role: Role, program: str | None) -> list[psutil.Process]:
        runs = [run for run in self._arm.programs if program in (None, run.name)]
        return [process for run in runs for process in run.processes(role)]

    def _report(self, outcome: Happened) -> None:
        if outcome.to_s is None:
            self._arm.log.add(FaultBegun(name=outcome.name, asked=outcome.asked, from_s=outcome.from_s))
            self._arm.log.say("fault", f"{outcome.name} begins: {outcome.asked}")
            return
        self._arm.log.add(FaultEnded.model_validate(outcome, from_attributes=True))
        left = "".join(f"; cannot be undone: {text}" for text in outcome.irreversible)
        self._arm.log.say("fault", f"{outcome.name} is over: {outcome.did}{left}")


def require_levers(items: Sequence[TimelineItem], stack: Stack) -> None:
    """Raises UsageError, with the fault's name, if the stack lacks a part or a lever that the fault needs."""
    for item in items:
        for need in item.do.needs():
            try:
                part = stack.part(need.part)
                if need.lever is not None:
                    part.require(need.lever)
            except UsageError as error:
                raise UsageError(f"fault {item.name!r} ({item.do}) cannot be: {error}", hint=error.hint) from error


def _evidence(outcome: Happened) -> TimelineEvidence:
    fields = asdict(outcome)
    return TimelineEvidence(fault=fields.pop("name"), fired=outcome.from_s is not None, **fields)
