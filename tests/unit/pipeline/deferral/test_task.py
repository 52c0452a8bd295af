"""What becomes of a message in a task of each lane, with a job that answers as the test says."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deferral.batch_budget import BatchBudget
from pipeline.deferral.entry import Cause, Entry, Fact, Resolved, Rewritten
from pipeline.deferral.lane import WAITS, MainLane, Policy, SlowLane
from pipeline.deferral.snapshot import Fence, Reservation
from pipeline.deferral.task import DirectTask, LedgerTarget, MainTask, SlowTask, appended_us
from pipeline.deferral.wire import TOO_LARGE, EntryItem, parse
from pipeline.fetch.deadline import Deadline
from pipeline.jobs.message import Outcome, Processed, SourceMessage, Unfinished
from pipeline.records.error_event import Failure, error_record
from pipeline.records.record import Position, Record
from pipeline.records.size import serialized_size

OUT, ERROR, FAILURES, LEDGER = "out", "error", "failures", "ledger"
WHEN = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOW_MS = 1_000_000
TARGET = LedgerTarget(LEDGER, epoch=3, limit_bytes=10_000, batch=8, task=21)
POLICY = Policy(inline_allowance_s=5, slow_deadline_s=120, total_attempts=3, backoff_base_s=10, backoff_cap_s=60)
SLOW = Unfinished(Failure("deadline_exceeded", "it takes long"))
REFUSED = Unfinished(Failure("breaker_open", "the breaker of enwiki is open"), tried=False)


@dataclass
class Job:
    """Answers by offset, else with an output; `asked` are offsets with the time they got."""

    answers: dict[int, Processed] = field(default_factory=dict)
    asked: list[tuple[int, float]] = field(default_factory=list)
    held: list[int] = field(default_factory=list)

    def hold(self, message: SourceMessage) -> None:
        self.held.append(message.position.offset)

    async def process(self, message: SourceMessage, *, limit_s: float) -> Processed:
        self.asked.append((message.position.offset, limit_s))
        return self.answers.get(message.position.offset, output(message))

    def error(self, message: SourceMessage, failure: Failure) -> Record:
        return error_record(
            ERROR,
            failure,
            position=message.position,
            key=message.key,
            appended=message.appended,
            emitter="test",
            stream="source",
        )


def message(offset: int, page: str = "p", value: bytes | None = b"value") -> SourceMessage:
    return SourceMessage(Position("source", 0, offset), page.encode(), value, WHEN)


def output(of: SourceMessage) -> Record:
    return Record(OUT, of.key, b"html", of.position.headers())


def failed(offset: int) -> Record:
    return Job().error(message(offset), Failure("revision_not_found", "gone"))


def reserved(*offsets: int, **changes: Any) -> dict[Position, Reservation]:
    return {
        Position("source", 0, offset): Reservation(**{"attempt": 1, "dropped": False, "reason": "", **changes})
        for offset in offsets
    }


def main_task(
    job: Job,
    reservations: dict[Position, Reservation] | None = None,
    *,
    fence: Fence | None = None,
    target: LedgerTarget = TARGET,
    budget: BatchBudget | None = None,
) -> MainTask:
    return MainTask(
        job=job,
        lane=MainLane(fence or Fence({}, frozenset(), reservations or {})),
        target=target,
        limit_s=5,
        backoff_ms=lambda asked_s: round(700 + 1000 * (asked_s or 0)),
        now_ms=lambda: NOW_MS,
        budget=budget or BatchBudget(300, 5),
    )


def slow_task(job: Job, reservations: dict[Position, Reservation], facts: list[Fact]) -> SlowTask:
    return SlowTask(
        job=job,
        lane=SlowLane(POLICY),
        limit_s=120,
        now_ms=lambda: NOW_MS,
        reservations=reservations,
        report=facts.append,
    )


def run(task: Any, messages: Sequence[SourceMessage]) -> list[Record | None]:
    """One after the other, as the slow lane does and the main lane may."""
    return [task.settle(one, asyncio.run(task.process(one))) for one in messages]


def run_ahead(task: Any, messages: Sequence[SourceMessage]) -> list[Record | None]:
    """All are processed before the first is settled, as the main lane may."""
    outcomes = [asyncio.run(task.process(one)) for one in messages]
    return [task.settle(one, outcome) for one, outcome in zip(messages, outcomes, strict=True)]


def run_slow(
    job: Job, reservations: dict[Position, Reservation], *messages: SourceMessage
) -> tuple[list[Record | None], list[Fact]]:
    """What leaves in a slow round, and what it reports."""
    facts: list[Fact] = []
    return run(slow_task(job, reservations, facts), messages), facts


def entry_in(record: Record | None) -> Entry:
    """The entry in a record of the ledger, which must have been written by attempt 21 of batch 8 in epoch 3."""
    assert record is not None
    assert record.topic == LEDGER
    item = parse(record.key, record.value, record.headers, partition=0, offset=0)
    assert isinstance(item, EntryItem)
    assert (item.epoch, item.batch, item.task) == (3, 8, 21)
    return item.entry


def topics(records: Sequence[Record | None]) -> list[str | None]:
    return [record and record.topic for record in records]


def error_of(record: Record | None) -> tuple[str, str]:
    assert record is not None
    assert record.topic == ERROR
    event = orjson.loads(record.value)
    return event["error_type"], event["message"]


both_ways = pytest.mark.parametrize("run_all", [run, run_ahead], ids=["in turn", "ahead"])
RunAll = Callable[[Any, Sequence[SourceMessage]], list[Record | None]]

# --- without deferral


def test_without_deferral_what_does_not_finish_is_an_error_event() -> None:
    job = Job({1: SLOW, 2: None})
    records = run(DirectTask(job, limit_s=60), [message(at) for at in range(4)])
    assert topics(records) == [OUT, ERROR, None, OUT]
    assert error_of(records[1])[0] == "deadline_exceeded"
    assert job.asked == [(0, 60), (1, 60), (2, 60), (3, 60)]


# --- main lane


@both_ways
def test_what_takes_too_long_is_deferred_and_its_page_behind_it(run_all: RunAll) -> None:
    job = Job({1: SLOW})
    messages = [message(0), message(1), message(2), message(3, "q"), message(4)]
    records = run_all(main_task(job), messages)
    assert topics(records) == [OUT, LEDGER, LEDGER, OUT, LEDGER]
    stuck, *waiting = (entry_in(records[at]) for at in (1, 2, 4))
    assert stuck == Entry(
        position=messages[1].position,
        key=b"p",
        value=b"value",
        appended_us=appended_us(messages[1]),
        kind="stuck",
        attempt=1,
        not_before_ms=NOW_MS + 700,
        reason="deadline_exceeded: it takes long",
    )
    assert [(one.position.offset, one.kind, one.attempt, one.not_before_ms) for one in waiting] == [
        (2, "waiting", 0, 0),
        (4, "waiting", 0, 0),
    ]
    assert {limit for _, limit in job.asked} == {5}


@both_ways
def test_what_is_deferred_keeps_its_headers_and_the_events_that_it_stands_for(run_all: RunAll) -> None:
    """Their positions are committed with its own: what is not kept here is in no output."""
    places = [tuple(Position("source", 0, one) for one in of) for of in ((1, 3), (2, 4), (5,))]
    traced = [(("traceparent", b"%d" % number),) for number in range(3)]
    counts = [
        replace(message(of[-1].offset), counted=of, headers=headers) for of, headers in zip(places, traced, strict=True)
    ]
    found = [*map(entry_in, run_all(main_task(Job({3: SLOW, 4: REFUSED})), counts))]
    assert [one.counted for one in found] == places
    assert [(one.kind, one.headers) for one in found] == [*zip(("stuck", "waiting", "waiting"), traced, strict=True)]


@both_ways
def test_a_count_behind_an_error_event_of_its_page_keeps_them_too(run_all: RunAll) -> None:
    """Of one batch they would go to two topics."""
    count = replace(message(4), counted=(Position("source", 0, 2), Position("source", 0, 4)))
    records = run_all(main_task(Job({3: failed(3)})), [message(3), count])
    assert topics(records) == [ERROR, LEDGER]
    assert entry_in(records[1]).counted == count.counted


@both_ways
def test_an_event_that_was_not_tried_waits_for_the_next_batch_and_its_page_behind_it(run_all: RunAll) -> None:
    """Its tries are what they were: a reserved one has been deferred before."""
    task = main_task(Job({0: REFUSED}), reserved(0, attempt=2, reason="status 503"))
    records = run_all(task, [message(0), message(1)])
    assert [(one.kind, one.attempt, one.not_before_ms, one.reason) for one in map(entry_in, records)] == [
        ("waiting", 2, 0, "breaker_open: the breaker of enwiki is open"),
        ("waiting", 0, 0, WAITS),
    ]


@both_ways
def test_an_entry_names_the_wiki_that_was_asked(run_all: RunAll) -> None:
    """A reserved one keeps it while nothing else is asked."""
    answers: dict[int, Outcome] = {0: replace(SLOW, wiki_id="enwiki"), 1: replace(REFUSED, wiki_id="enwiki")}
    task = main_task(Job(answers), reserved(2, wiki_id="dewiki"))
    records = run_all(task, [message(0, "a"), message(1, "b"), message(2, "a"), message(3, "a")])
    found = [(one.kind, one.wiki_id) for one in map(entry_in, records)]
    assert found == [("stuck", "enwiki"), ("waiting", "enwiki"), ("waiting", "dewiki"), ("waiting", None)]


def test_what_outlasts_the_batchs_budget_is_stuck_and_its_page_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(Job):
        async def process(self, message: SourceMessage, *, limit_s: float) -> Any:
            if message.position.offset == 0:
                Deadline(5, lambda: 0.0).begin()
                await asyncio.Event().wait()
            return await super().process(message, limit_s=limit_s)

    budget = BatchBudget(300, 5, lambda: 0.0)
    monkeypatch.setattr(budget, "remaining_s", lambda: 0.001)
    records = run_ahead(main_task(Endless(), budget=budget), [message(0), message(1), message(2, "q")])
    assert topics(records) == [LEDGER, LEDGER, OUT]
    stuck, waits = (entry_in(record) for record in records[:2])
    assert (stuck.kind, stuck.attempt) == ("stuck", 1)
    assert (stuck.reason, stuck.cause) == ("batch_budget: its batch was at work for 0.0 s", "batch_budget")
    assert (waits.kind, waits.attempt, waits.cause) == ("waiting", 0, None)


def test_a_stuck_event_rests_as_long_as_the_upstream_asked_for() -> None:
    asks = Job({0: Unfinished(SLOW.failure, retry_after_s=45.0)})
    (record,) = run(main_task(asks), [message(0)])
    assert entry_in(record).not_before_ms == NOW_MS + 45_700
    _, (fact,) = run_slow(asks, reserved(0), message(0))
    assert isinstance(fact, Rewritten)
    assert (fact.attempt, fact.not_before_ms) == (2, NOW_MS + 45_000)


def test_nothing_is_fetched_behind_a_deferred_event_when_that_is_known() -> None:
    job = Job({1: SLOW})
    run(main_task(job), [message(1), message(2), message(3, "q")])
    assert [offset for offset, _ in job.asked] == [1, 3]
    assert job.held == [2], "the job knows of it"


@both_ways
@pytest.mark.parametrize(
    ("first", "left", "kinds"),
    [(None, [None, OUT, None], []), (SLOW, [LEDGER, LEDGER, LEDGER], ["stuck", "waiting", "waiting"])],
    ids=["in its turn", "not behind a deferred one"],
)
def test_a_filtered_event_leaves_nothing_and_holds_nobody(
    run_all: RunAll, first: Outcome, left: list[str | None], kinds: list[str]
) -> None:
    """Whether it is filtered is said in its turn; until then it stands like any other."""
    records = run_all(main_task(Job({0: first, 2: None})), [message(0), message(1), message(2)])
    assert topics(records) == left
    assert [entry_in(record).kind for record in records if record and record.topic == LEDGER] == kinds


@both_ways
def test_rows_that_the_ledger_has_leave_nothing_and_are_not_fetched(run_all: RunAll) -> None:
    job = Job()
    blocked = {("source", 0, b"p"): Position("source", 0, 5)}
    fence = Fence(blocked, unreserved=frozenset({Position("source", 0, 5), Position("source", 0, 8)}), reserved={})
    messages = [message(4), message(5), message(6), message(7, "q"), message(8)]
    assert topics(run_all(main_task(job, fence=fence), messages)) == [OUT, None, LEDGER, OUT, None]
    assert [offset for offset, _ in job.asked] == [4, 7]
    assert job.held == [6], "of what the ledger has it was told before"


@both_ways
@pytest.mark.parametrize(
    ("outcomes", "left"),
    [
        ([None, "out", "error", "out"], [None, OUT, LEDGER, LEDGER]),
        (["error", "error", "out"], [ERROR, ERROR, LEDGER]),
        (["failure", "error", "failure"], [FAILURES, LEDGER, LEDGER]),
        (["out", None, "out"], [OUT, None, OUT]),
    ],
    ids=["error behind outputs", "output behind errors", "error behind a failure", "one topic"],
)
def test_a_pages_records_of_a_batch_go_to_one_topic(
    run_all: RunAll, outcomes: list[str | None], left: list[str | None]
) -> None:
    """Two topics are written side by side, so a crash could keep the later record and lose the earlier one."""
    kinds = {"out": output(message(0)), "error": failed(0), "failure": replace(failed(0), topic=FAILURES), None: None}
    job = Job({at: kinds[outcome] for at, outcome in enumerate(outcomes)})
    others = [message(90, "q"), message(91, "r")]
    job.answers[91] = failed(91)
    records = run_all(main_task(job), [*(message(at) for at in range(len(outcomes))), *others])
    assert topics(records) == [*left, OUT, ERROR]
    assert all(entry_in(record).kind == "waiting" for record in records if record and record.topic == LEDGER)


@both_ways
def test_a_reserved_entry_goes_on_with_its_attempts(run_all: RunAll) -> None:
    (record,) = run_all(main_task(Job({0: SLOW}), reserved(0, attempt=2)), [message(0)])
    assert entry_in(record).attempt == 3


given_up = pytest.mark.parametrize(
    ("cause", "value", "error", "says"),
    [
        (None, b"value", "dropped_by_operator", "it was deferred because: status 504"),
        ("too_large", None, "source_event_too_large", "too large to be deferred"),
    ],
)


@both_ways
@given_up
def test_an_entry_that_was_given_up_is_an_error_event_in_its_turn(
    run_all: RunAll, cause: Cause | None, value: bytes | None, error: str, says: str
) -> None:
    job = Job()
    task = main_task(job, reserved(1, dropped=True, reason="status 504", cause=cause))
    records = run_all(task, [message(0, "q"), message(1, value=value), message(2)])
    assert topics(records) == [OUT, ERROR, LEDGER], "the output behind it is for the next batch"
    assert error_of(records[1])[0] == error
    assert says in error_of(records[1])[1]
    assert 1 not in dict(job.asked), "nothing is fetched for it"


@given_up
def test_in_the_slow_lane_too(cause: Cause | None, value: bytes | None, error: str, says: str) -> None:
    job = Job()
    reservations = reserved(0, dropped=True, reason="status 504", cause=cause)
    records, facts = run_slow(job, reservations, message(0, value=value))
    assert error_of(records[0])[0] == error
    assert says in error_of(records[0])[1]
    assert facts == [Resolved(Position("source", 0, 0))]
    assert job.asked == []


@both_ways
def test_an_entry_that_was_given_up_and_is_held_stays_given_up(run_all: RunAll) -> None:
    task = main_task(Job(), reserved(1, attempt=4, dropped=True, reason="status 504", cause="too_large"))
    held = entry_in(run_all(task, [message(0), message(1)])[1])
    assert (held.dropped, held.attempt, held.reason, held.kind) == (True, 4, "status 504", "waiting")
    assert held.cause == "too_large"


@both_ways
def test_what_is_too_large_for_the_ledger_gives_up_its_value_and_keeps_its_turn(run_all: RunAll) -> None:
    task = main_task(Job({0: SLOW}), target=replace(TARGET, limit_bytes=1000))
    records = [one for one in run_all(task, [message(at, value=bytes(2000)) for at in range(2)]) if one]
    entries = [entry_in(record) for record in records]
    assert {(one.dropped, one.value, one.reason, one.cause) for one in entries} == {
        (True, None, TOO_LARGE, "too_large")
    }
    assert [one.kind for one in entries] == ["stuck", "waiting"]
    assert max(serialized_size(one.key, one.value, one.headers) for one in records) <= 1000


OUTCOMES = st.sampled_from(["out", "error", "slow", "filtered"])


@given(st.lists(st.tuples(st.sampled_from("pq"), OUTCOMES), max_size=12), st.booleans())
def test_what_leaves_of_a_page_comes_before_all_that_is_deferred(events: list[tuple[str, str]], ahead: bool) -> None:
    """And goes to one topic; nobody is forgotten."""
    messages = [message(at, page) for at, (page, _) in enumerate(events)]
    kinds: dict[str, Callable[[SourceMessage], Outcome]] = {
        "out": output,
        "error": lambda one: failed(one.position.offset),
        "slow": lambda one: SLOW,
        "filtered": lambda one: None,
    }
    job = Job({one.position.offset: kinds[kind](one) for one, (_, kind) in zip(messages, events, strict=True)})
    records = (run_ahead if ahead else run)(main_task(job), messages)
    for page in "pq":
        of_page = [
            (topic, kind)
            for (name, kind), topic in zip(events, topics(records), strict=True)
            if name == page and (topic, kind) != (None, "filtered")
        ]
        left = [topic for topic, _ in of_page if topic != LEDGER]
        assert [topic for topic, _ in of_page] == left + [LEDGER] * (len(of_page) - len(left))
        assert len(set(left)) <= 1
        assert None not in left


# --- slow lane


def test_what_leaves_in_the_slow_lane_is_reported() -> None:
    job = Job({1: None, 2: failed(2)})
    records, facts = run_slow(job, reserved(0, 1, 2), message(0), message(1), message(2, "q"))
    assert topics(records) == [OUT, None, ERROR]
    assert facts == [Resolved(Position("source", 0, offset)) for offset in (0, 1, 2)]
    assert job.asked == [(0, 120), (1, 120), (2, 120)]


def test_what_fails_again_is_the_drivers_to_write_and_the_rest_of_its_page_stands() -> None:
    """A task that Spark gave up on, and that lives on, must not write it behind the tombstone."""
    job = Job({0: replace(SLOW, wiki_id="enwiki")})
    records, facts = run_slow(job, reserved(0, 1), message(0), message(1), message(2, "q"))
    assert topics(records) == [None, None, OUT]
    # The second try is over: it rests twice as long as after the first.
    reason = "deadline_exceeded: it takes long"
    assert facts == [
        Rewritten(Position("source", 0, 0), 2, NOW_MS + 20_000, reason, wiki_id="enwiki"),
        Resolved(Position("source", 0, 2)),
    ]
    assert [offset for offset, _ in job.asked] == [0, 2], "nothing is fetched behind it"


def test_after_the_last_try_it_is_an_error_event_and_the_page_goes_on() -> None:
    records, facts = run_slow(Job({0: SLOW, 1: failed(1)}), reserved(0, 1, attempt=2), message(0), message(1))
    assert topics(records) == [ERROR, ERROR]
    assert error_of(records[0])[0] == "deadline_exceeded"
    assert facts == [
        Resolved(Position("source", 0, 0), gave_up="deadline_exceeded: it takes long"),
        Resolved(Position("source", 0, 1)),
    ]


@pytest.mark.parametrize("error_type", ["deadline_exceeded", "fetch_failed"])
def test_an_error_event_is_the_same_whatever_the_last_try_met(error_type: str) -> None:
    """After a crash the tries are made again, and the upstream need not answer as before."""
    met = ["revision 5 of enwiki: status 503", "revision 4 of enwiki: no answer within 20 s"]
    jobs = [Job({0: Unfinished(Failure(error_type, text))}) for text in met]
    slow = [run_slow(job, reserved(0, attempt=2), message(0))[0] for job in jobs]
    direct = [run(DirectTask(job, 5), [message(0)]) for job in jobs]
    assert slow[0] == slow[1] == direct[0] == direct[1]
    assert error_of(slow[0][0])[0] == error_type


def test_where_the_topic_would_change_the_rest_stands_for_a_later_round() -> None:
    job = Job({0: SLOW})
    records, facts = run_slow(job, reserved(0, 1, 2, attempt=2), message(0), message(1), message(2))
    assert topics(records) == [ERROR, None, None]
    assert [fact.position for fact in facts] == [Position("source", 0, 0)]
    assert [offset for offset, _ in job.asked] == [0, 1]


def test_a_round_whose_time_is_over_begins_with_no_further_entry() -> None:
    """What it has not begun with stands, and with it the rest of the page."""
    messages = [message(1), message(2), message(3, "q")]
    facts: list[Fact] = []
    over = iter([False, True, True])
    records = run(replace(slow_task(Job(), {}, facts), is_over=lambda: next(over)), messages)
    assert [record is not None for record in records] == [True, False, False]
    assert facts == [Resolved(messages[0].position)]
