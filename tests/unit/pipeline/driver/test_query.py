"""How a run ends and whose failure it tells, with a query that does what the test says."""

import copy
import os
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline import log
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.start_position import NewStart
from pipeline.deferral.fold import FencedError
from pipeline.driver import query as module
from pipeline.driver.stop import StoppedHardError
from pipeline.errors import PipelineError, RefusedError
from pipeline.events import fields_of
from pipeline.memory.budget import Budget

TRACE = "Query failed\nCaused by: a.b.RecordTooLargeException: The message is 23048294 bytes\n"
PROXY = "Query failed\nCaused by: py4j.Py4JException: An exception was raised by the Python Proxy. Return Message: T"
TOO_LARGE = r"query failed: a.b.RecordTooLargeException: The message is 23048294 bytes"
PLANNING = "Getting offsets from KafkaV2[Subscribe[a]]"


@dataclass
class Query:
    """Each wait does the next of `events`: nothing, raise, or call."""

    events: list[Any] = field(default_factory=list)
    active: list[bool] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    ended_with: str | None = None
    message: str = "Processing new data"

    @property
    def isActive(self) -> bool:  # noqa: N802 — Spark's name
        return self.ended_with is None

    @property
    def status(self) -> dict[str, Any]:
        self.steps.append("status")
        return {"isTriggerActive": self.active.pop(0) if self.active else True, "message": self.message}

    def awaitTermination(self, _timeout: float) -> None:  # noqa: N802
        event = self.events.pop(0)
        if isinstance(event, Exception):
            raise event
        if event is not None:
            event()

    def stop(self) -> None:
        self.steps.append("query stopped")

    def exception(self) -> str | None:
        return self.ended_with


@dataclass
class Writer:
    query: Query
    failures: list[PipelineError | None] = field(default_factory=list)
    committed: list[int | None] = field(default_factory=list)
    # What is under way at each look after the signal; the last stays.
    writings: list[int | None] = field(default_factory=lambda: [None])
    helds: list[bool] = field(default_factory=lambda: [False])
    rounds_left: list[int] = field(default_factory=lambda: [0])
    others: bool = False
    triggers: list[bool] = field(default_factory=list)

    def reads(self, _batch: int) -> int:
        return 1

    def check_ownership(self) -> None:
        if self.others:
            raise FencedError("another start of this job has taken the checkpoint over")

    @property
    def batch(self) -> int:
        self.query.steps.append("batch")
        return 7

    def check(self, *, committed: int | None = None) -> None:
        self.committed.append(committed)
        if self.failures and (failure := self.failures.pop(0)):
            raise failure

    def check_commit(self, *, active: bool) -> None:
        self.triggers.append(active)

    @property
    def writing(self) -> int | None:
        return _next(self.writings)

    @property
    def is_held(self) -> bool:
        return _next(self.helds)

    @property
    def rounds(self) -> int:
        return _next(self.rounds_left)

    def drain(self) -> None:
        self.query.steps.append("drained")

    def close(self) -> None:
        self.query.steps.append("closed")


def _next(values: list[Any]) -> Any:
    return values.pop(0) if len(values) > 1 else values[0]


# More than any of these tests takes on a busy machine.
LONG_S = 30.0


@dataclass
class Run:
    """Runs a query to its end; what was said."""

    config: PipelineConfig
    monkeypatch: pytest.MonkeyPatch
    now: float = 0.0
    looked: list[Query] = field(default_factory=list)

    def __call__(
        self,
        query: Query,
        writer: Writer | None = None,
        checks: Sequence[Callable[[], object]] = (),
        source_look: Callable[[], None] = lambda: None,
    ) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        running = SimpleNamespace(
            query=query,
            writer=writer or Writer(query),
            checks=checks,
            start="checkpoint",
            ui=None,
            ended=SimpleNamespace(wait=lambda _seconds: query.steps.append("awaited")),
            dump=SimpleNamespace(log_dump=lambda: self.looked.append(query)),
            broker_checks=(source_look,),
            jvm=SimpleNamespace(is_out_of_memory=lambda: False),
        )

        def begin(_budget: Budget, _new: NewStart | None, will_run: Callable[[], None], **_: Any) -> SimpleNamespace:
            will_run()
            return running

        patch = self.monkeypatch.setattr
        patch(module, "_OTHERS_S", 0.001)
        patch(module, "_BROKERS_S", 0.001)
        patch(module, "time", SimpleNamespace(monotonic=lambda: self.now))
        patch(module, "_begin", begin)
        patch(log, "emit", lambda event: lines.append({"event": event.event} | fields_of(event)))
        module.run(Budget(self.config), None)
        return lines

    def pass_time(self) -> None:
        self.now = 26.0


@pytest.fixture
def run(make_config: Callable[..., PipelineConfig], monkeypatch: pytest.MonkeyPatch, handlers: None) -> Run:
    return Run(make_config(), monkeypatch)


def signalled(number: int = signal.SIGTERM) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(run: Run, number: signal.Signals) -> None:
    """First nothing new begins, which also ends a batch that waits for room; then Spark is told."""
    query = Query(events=[None, signalled(number)], active=[True, True, False])
    assert [line["event"] for line in run(query)] == ["started", "stopping", "stopped"]
    steps = [step for step in query.steps if step not in ("batch", "status")]
    assert steps == ["drained", "query stopped", "awaited", "closed"]


def test_a_stop_waits_for_the_batch_and_its_commit(run: Run) -> None:
    """While it writes nobody asks Spark; then the trigger has to rest, which it does when the batch is committed."""
    query = Query(events=[signalled(), None, None, None], active=[True, True, True, True, True, False])
    lines = run(query, Writer(query, writings=[7, 7, 7, None]))
    assert (lines[1]["event"], lines[1]["batch"], lines[1]["within_s"]) == ("stopping", 7, 25)
    assert query.steps[-4:] == ["status", "query stopped", "awaited", "closed"]
    assert not query.active, "the last answer was waited for"


@pytest.mark.parametrize(
    ("waits", "message", "states"),
    [
        pytest.param(0, PLANNING, {}, id="not for the plan of a batch, which without brokers takes minutes"),
        pytest.param(1, PLANNING, {"writings": [7, 7, None]}, id="for a batch at work, whatever Spark plans"),
        pytest.param(
            1,
            "Processing new data",
            {"writings": [7, 7, None], "helds": [True]},
            id="not for a trigger that never rests, when a held batch says that the one before is committed",
        ),
    ],
)
def test_what_a_stop_waits_for(run: Run, waits: int, message: str, states: dict[str, Any]) -> None:
    query = Query(events=[signalled(), *[None] * waits], message=message)
    assert [line["event"] for line in run(query, Writer(query, **states))] == ["started", "stopping", "stopped"]
    assert query.steps[-3:] == ["query stopped", "awaited", "closed"]
    assert query.events == []


def test_a_stop_waits_for_slow_rounds(run: Run) -> None:
    query = Query(events=[signalled(), None, None], active=[True, False, True, False, True, False])
    lines = run(query, Writer(query, rounds_left=[2, 1, 1, 0]))
    assert lines[-1]["rounds_given_up"] == 0
    assert query.events == []


@pytest.mark.parametrize(
    ("why", "active"),
    [
        pytest.param("time", [True, False, True, False], id="time"),
        pytest.param("second signal", [True, False, True, False], id="second signal"),
        # A trigger rests once, and is at work again, looking for news: it is no batch at work.
        pytest.param("time", [True, False], id="time, while a trigger has no batch"),
    ],
)
def test_rounds_are_given_up_when_the_time_is_over_and_that_is_no_failure(
    run: Run, why: str, active: list[bool]
) -> None:
    query = Query(events=[signalled(), None, run.pass_time if why == "time" else signalled()], active=active)
    lines = run(query, Writer(query, rounds_left=[2]))
    assert (lines[-1]["event"], lines[-1]["rounds_given_up"]) == ("stopped", 2)
    assert query.events == []


@pytest.mark.parametrize(
    ("writings", "what"), [([7], "batch 7"), ([None], "a batch")], ids=["still writing", "not committed"]
)
@pytest.mark.parametrize("why", ["stop_timeout 25 s is over", "a second signal came"])
def test_a_batch_that_has_to_be_left_ends_the_process_hard(
    run: Run, writings: list[int | None], what: str, why: str
) -> None:
    query = Query(events=[signalled(), signalled() if "signal" in why else run.pass_time])
    with pytest.raises(StoppedHardError, match=f"^stopped with {what} at work, as {why}$") as caught:
        run(query, Writer(query, writings=writings))
    assert caught.value.exit_code == 3
    assert "query stopped" not in query.steps, "it would wait for the batch"


PYTHONS = PipelineError("a driver of epoch 3 has started")
SLOW_LANES = PipelineError("slow lane failed: worker exited")


@pytest.mark.parametrize(
    ("events", "states", "says"),
    [
        pytest.param([None, RuntimeError(TRACE)], {}, TOO_LARGE, id="the query: what Java said"),
        pytest.param([signalled(), RuntimeError(TRACE)], {"writings": [7]}, TOO_LARGE, id="while a stop waits for it"),
        # Of an exception that went through Python Spark knows only that there was one.
        pytest.param([RuntimeError(PROXY)], {"failures": [PYTHONS]}, f"^{PYTHONS}$", id="Python: what Python says"),
        pytest.param([None, None], {"failures": [None, SLOW_LANES]}, f"^{SLOW_LANES}$", id="beside the query"),
    ],
)
def test_what_failed_says_why_and_a_heap_dump_is_looked_for(
    run: Run, events: list[Any], states: dict[str, Any], says: str
) -> None:
    query = Query(events=list(events))
    with pytest.raises(PipelineError, match=says):
        run(query, Writer(query, **copy.deepcopy(states)))
    assert run.looked == [query]


def test_a_query_that_ended_by_itself_says_why(run: Run) -> None:
    query = Query()

    def end() -> None:
        query.ended_with = TRACE

    query.events.append(end)
    with pytest.raises(PipelineError, match=TOO_LARGE):
        run(query)


def looks_are_over(name: str = "periodic-checks") -> None:
    """Of a look that raises no other follows."""
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join(LONG_S)


def not_reached() -> None:
    pytest.fail("it should have ended")


@pytest.mark.parametrize(
    "events",
    [[RuntimeError(TRACE)], [None, looks_are_over, not_reached]],
    ids=["Spark says only that several queries use it", "the job does nothing"],
)
def test_a_job_whose_checkpoint_a_later_start_has_ends_for_that(run: Run, events: list[Any]) -> None:
    query = Query(events=list(events))
    with pytest.raises(FencedError) as fenced:
        run(query, Writer(query, others=True))
    assert fenced.value.exit_code == 2


def test_a_source_topic_that_was_made_again_ends_the_job(run: Run) -> None:
    def look() -> None:
        raise RefusedError("id of topic b 2, not 3")

    with pytest.raises(RefusedError, match="id of topic b 2"):
        run(Query(events=[None, lambda: looks_are_over("broker-checks"), not_reached]), source_look=look)


def test_a_store_that_answers_nobody_does_not_hold_the_end_of_a_late_batch(run: Run) -> None:
    asked, answer = threading.Event(), threading.Event()

    def unanswered() -> None:
        asked.set()
        answer.wait(LONG_S)

    query = Query(events=[None, lambda: asked.wait(LONG_S), None])
    try:
        with pytest.raises(PipelineError, match=r"^no commit within 15 s$"):
            run(query, Writer(query, failures=[None, PipelineError("no commit within 15 s")]), checks=[unanswered])
        assert asked.is_set()
    finally:
        answer.set()


def test_the_table_of_wikis_is_looked_at_while_nothing_is_fetched(run: Run) -> None:
    looked = threading.Event()
    query = Query(active=[False] * 3, events=[None, lambda: looked.wait(LONG_S), RuntimeError(TRACE)])
    with pytest.raises(PipelineError):
        run(query, checks=[looked.set])
    assert looked.is_set()


def test_a_batch_has_ended_when_it_was_there_before_the_trigger_rested(run: Run) -> None:
    """The other way round, the answer could be about the batch before."""
    query = Query(events=[None, None, RuntimeError(TRACE)], active=[True, False])
    writer = Writer(query)
    with pytest.raises(PipelineError):
        run(query, writer)
    assert query.steps == ["batch", "status"] * 2
    assert writer.committed[:2] == [None, 7]
    assert writer.triggers[:2] == [True, False]


def test_periodic_checks_look_again_and_again_until_one_has_failed() -> None:
    looks, after = [0], [0]

    def look() -> None:
        looks[0] += 1
        if looks[0] > 2:
            raise PipelineError("another start has taken it over")

    def count() -> None:
        after[0] += 1

    with module.PeriodicChecks([look, count], 0.001, name="checks") as checks:
        looks_are_over("checks")
        with pytest.raises(PipelineError, match="taken it over"):
            checks.check()
    assert (looks, after) == ([3], [2])
