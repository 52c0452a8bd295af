"""Plays the timeline of an arm: begins each fault at its time or condition, ends it in time, and heals at the end.

A thread watches the clock, so that a fault ends in time even while the arm's observer waits for a paused part. The
observer passes its observations to `look`. Each fault begins and ends on a thread of its own, as a part may
take its time, and no other fault should be late for that.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Literal, Protocol

from devkit.errors import DevkitError, StackError
from devkit.faults.claims import cluster_claims
from devkit.faults.condition import Seen
from devkit.faults.fault import Acting, Context, MadeTopic, Proof, Undo
from devkit.faults.journal import Journal, Page
from devkit.faults.request_watch import NoWatch, Watch
from devkit.faults.timeline_item import TimelineItem
from devkit.faults.undo import carry_out
from devkit.guardian.lease import LEASE, RENEW_EVERY

_TICK = timedelta(milliseconds=100)
_HEALING = timedelta(seconds=150)
_UNDONE = (
    f"it did not last: it was undone from outside, as its lease was not renewed for {LEASE.seconds} s "
    "(the command line stood still, or the clock was set)"
)

Phase = Literal["waiting", "beginning", "acting", "ending", "over"]


@dataclass(frozen=True)
class Happened:
    """The outcome of one item. Times count from the arm's start; `from_s` is None where it never began.

    `acted` is whether the part showed it; `did` says what the part did, or what was seen instead. `unreached` says
    which of what it made no record reached, and is empty for nothing.
    """

    name: str
    asked: str
    from_s: float | None = None
    to_s: float | None = None
    acted: bool = False
    did: str = ""
    irreversible: tuple[str, ...] = ()
    hides: str = ""
    unreached: str = ""


class MakeContext(Protocol):
    """The context of a fault whose plans go to the given journal page."""

    def __call__(self, plan: Callable[[Undo], None]) -> Context:
        """`plan` is that of the fault's own page; the fault calls it before it acts."""


Excuse = Callable[[str], AbstractContextManager[None]]
Start = Callable[[Callable[[], None]], None]


def run_on_thread(work: Callable[[], None]) -> None:
    """Not a daemon thread: a fault that has begun is ended even when the run is about to end."""
    threading.Thread(target=work, name="fault").start()


@dataclass
class _Play:
    """An item and how far it is; `held_s` is when its condition first held."""

    item: TimelineItem
    phase: Phase = "waiting"
    held_s: float | None = None
    due_s: float | None = None
    acting: Acting | None = None
    page: Page | None = None
    missed: str = ""
    excuses: ExitStack = field(default_factory=ExitStack)
    happened: Happened = field(init=False)

    def __post_init__(self) -> None:
        self.happened = Happened(self.item.name, str(self.item))


class Runner:
    """One arm's timeline. `report` gets each item when it begins and when it is over; `events` are published in all.

    `watch` is for the requests that items wait for.
    """

    def __init__(
        self,
        items: Sequence[TimelineItem],
        *,
        journal: Journal,
        context: MakeContext,
        excuse: Excuse,
        clock: Callable[[], float],
        report: Callable[[Happened], None],
        events: int = 0,
        start: Start = run_on_thread,
        renewal_clock: Callable[[], float] = time.monotonic,
        holder: int | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._plays = [_Play(item) for item in items]
        self._journal, self._context, self._excuse, self._clock = journal, context, excuse, clock
        self._report, self._events, self._start, self._renewal_clock = report, events, start, renewal_clock
        self._holder, self._watch = holder, watch or NoWatch()
        self._seen = Seen()
        self._lock = threading.Condition()
        self._error: DevkitError | None = None
        self._stopped = threading.Event()
        self._renewed_at = renewal_clock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Look at the clock from now on."""
        if self._plays:
            self._watch.begin()
            self._thread = threading.Thread(target=self._run, name="timeline", daemon=True)
            self._thread.start()

    def look(self, seen: Seen) -> None:
        """Take in what has been observed. Raises StackError when a fault could not be ended."""
        with self._lock:
            self._seen = seen
            if self._error is not None:
                raise self._error

    @property
    def held(self) -> frozenset[str]:
        """The parts that a fault holds now: what is not to be seen of them is the fault's doing."""
        with self._lock:
            return frozenset(need.part for play in self._acting() for need in play.item.do.needs())

    @property
    def blinds(self) -> bool:
        """Whether a part that a fault holds now does not even answer the kit, and no other part answers for it."""
        with self._lock:
            blinding = [play for play in self._acting() if play.item.do.blinds]
            if len(blinding) != 1:
                return bool(blinding)
            from_s = blinding[0].happened.from_s
            return from_s is None or self._clock() - from_s < blinding[0].item.do.blinds_s()

    @property
    def stopped(self) -> frozenset[str]:
        """The parts that a fault has stopped now: none of them does anything."""
        with self._lock:
            stopping = [play.item.do for play in self._acting() if play.item.do.blinds]
            return frozenset(need.part for do in stopping for need in do.needs())

    @property
    def phases(self) -> tuple[Phase, ...]:
        """How far each item is, in their order."""
        with self._lock:
            return tuple(play.phase for play in self._plays)

    @property
    def happened(self) -> tuple[Happened, ...]:
        """Each item in its order."""
        with self._lock:
            return tuple(play.happened for play in self._plays)

    def tick(self) -> None:
        """Begin what is due, end what has lasted its time, renew the leases."""
        requests, now = self._watch.seen(), self._clock()
        for play in self._plays:
            with self._lock:
                self._seen = replace(self._seen, requests=requests)
                if play.phase == "waiting" and not self._stopped.is_set() and self._is_due(play, now):
                    play.phase = "beginning"
                    work: Callable[[_Play], None] = self._begin_and_release
                elif play.phase == "acting" and play.due_s is not None and now >= play.due_s:
                    play.phase = "ending"
                    work = self._end
                else:
                    continue
            self._start(partial(work, play))
        if self._renewal_clock() - self._renewed_at >= RENEW_EVERY.total_seconds():
            self._renewed_at = self._renewal_clock()
            self._renew()

    def end(self) -> None:
        """End all faults, begin no more, and wait until the parts are healed. Raises StackError when one is not."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        self._await(lambda: not any(play.phase == "beginning" for play in self._plays))
        self._watch.end()
        for play in self._plays:
            with self._lock:
                if play.phase != "acting":
                    continue
                play.phase = "ending"
            self._start(partial(self._end, play))
        self._await(lambda: not any(play.phase == "ending" for play in self._plays))
        if self._error is not None:
            raise self._error

    def look_for_records(self) -> None:
        """After the arm's end: in the topics and partitions that faults made. Raises StackError."""
        for play in self._plays:
            if play.happened.acted and isinstance(play.acting, MadeTopic):
                play.happened = replace(play.happened, unreached=play.acting.unreached())

    def _run(self) -> None:
        while not self._stopped.wait(self._until_next_s()):
            self.tick()

    def _until_next_s(self) -> float:
        """Until the next look, which is early where a fault has lasted its time sooner."""
        with self._lock:
            due_s = [play.due_s for play in self._plays if play.phase == "acting" and play.due_s is not None]
        return min([_TICK.total_seconds(), *(max(0.0, due - self._clock()) for due in due_s)])

    def _await(self, condition: Callable[[], bool]) -> None:
        """The leases are renewed meanwhile, as a part may take longer than one to answer again."""
        end = time.monotonic() + _HEALING.total_seconds()
        with self._lock:
            while not self._lock.wait_for(condition, RENEW_EVERY.total_seconds()):
                self._renew()
                if time.monotonic() > end:
                    raise StackError(f"the faults of the timeline were not ended within {_HEALING.seconds} s")

    def _is_due(self, play: _Play, now: float) -> bool:
        item = play.item
        if item.at is not None:
            return now >= item.at.total_seconds() and not self._is_held_up(item)
        if play.held_s is None and item.when is not None and item.when.holds(self._seen, self._events):
            play.held_s = now
        is_due = play.held_s is not None and now >= play.held_s + (item.after or timedelta()).total_seconds()
        return is_due and not self._is_held_up(item)

    def _is_held_up(self, item: TimelineItem) -> bool:
        """Whether a fault is at work on one of its parts that is over when it is done, such as a restart."""
        parts = {need.part for need in item.do.needs()}
        at_work = (other.item.do for other in self._plays if other.phase in ("beginning", "ending"))
        return any(not do.lasts and parts & {need.part for need in do.needs()} for do in at_work)

    def _begin_and_release(self, play: _Play) -> None:
        try:
            self._begin(play)
        finally:
            self._watch.release(play.item.name)

    def _begin(self, play: _Play) -> None:
        from_s = round(self._clock(), 3)
        play.happened = Happened(play.item.name, play.happened.asked, from_s)
        self._report(play.happened)
        try:
            for part in {need.part for need in play.item.do.needs()}:
                play.excuses.enter_context(self._excuse(part))
            lasts_s = play.item.for_.total_seconds() if play.item.for_ else None if play.item.do.lasts else 0.0
            play.page = self._journal.open(play.item.name, play.item.do, holder=self._holder, lasts_s=lasts_s)
            context = replace(self._context(play.page.plan), name=play.item.name)
            claims = play.item.do.claims(context.topics)
            cluster = context.cluster_id() if cluster_claims(claims) else ""
            with self._lock:
                self._journal.claim(play.page, claims, cluster)
            play.acting = play.item.do.begin(context)
            play.missed = self._watch.missed(play.item.name)
        except DevkitError as error:
            # That it did not begin is no defect of the run, but then it must leave nothing behind either.
            self._finish(play, Proof(acted=False, did=f"it could not begin: {error}"), begun=False)
            return
        except BaseException:
            self._finish(play, Proof(acted=False, did="it could not begin"), begun=False)
            raise
        if not play.item.do.lasts:
            self._end(play)
            return
        with self._lock:
            play.due_s = None if play.item.for_ is None else self._clock() + play.item.for_.total_seconds()
            play.phase = "acting"
            self._lock.notify_all()

    def _end(self, play: _Play) -> None:
        assert play.acting is not None
        try:
            if _is_undone(play):
                with contextlib.suppress(DevkitError):  # nothing is left to be ended but what this process holds
                    play.acting.end()
                proof = Proof(acted=False, did=_UNDONE)
            else:
                proof = play.acting.end()
        except DevkitError as error:
            self._finish(play, Proof(acted=False, did=f"it could not be ended: {error}"), begun=False)
            with self._lock:
                self._error = StackError(f"fault {play.item.name!r} could not be ended: {error}", hint=error.hint)
        except BaseException as error:
            self._finish(play, Proof(acted=False, did=f"it could not be ended: {error!r}"), begun=False)
            raise
        else:
            self._finish(play, proof, begun=True)

    def _finish(self, play: _Play, proof: Proof, *, begun: bool) -> None:
        """`begun` is whether it went its way; else the journal's plans are carried out."""
        if play.missed:  # it acted, though not at the point that the scenario is about
            proof = replace(proof, acted=False, did=f"{play.missed}; {proof.did}")
        irreversible: tuple[str, ...] = ()
        if play.page is not None:
            irreversible = play.page.entry.irreversible
            if begun or _undone(play.page):
                play.page.close()
        play.excuses.close()
        before = play.happened
        to_s = round(self._clock(), 3)
        play.happened = replace(
            before, to_s=to_s, acted=proof.acted, did=proof.did, irreversible=irreversible, hides=proof.hides
        )
        self._report(play.happened)
        with self._lock:
            play.phase = "over"
            self._lock.notify_all()

    def _acting(self) -> list[_Play]:
        return [play for play in self._plays if play.phase in ("beginning", "acting", "ending")]

    def _renew(self) -> None:
        for play in self._acting():
            if play.page is None:
                continue
            try:
                play.page.renew()
            except FileNotFoundError:
                with self._lock:
                    if play.phase != "acting":
                        continue  # it is over just now, or is reported as undone when it has begun
                    play.phase = "ending"
                self._start(partial(self._end, play))


def _is_undone(play: _Play) -> bool:
    """By another process: the page of a fault goes when it is undone, and ours closes it only when it is over."""
    return play.page is not None and not play.page.path.exists()


def _undone(page: Page) -> bool:
    """Whether the plans could be carried out; else the page stays, for the guardian and `devkit heal`."""
    with contextlib.suppress(DevkitError):
        carry_out(page)
        return True
    return False
