"""What an operator sees of the ledger, and how a wish comes to the job."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result
from hypothesis import given

from pipeline.__main__ import main
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.ledger_log import LedgerLog
from pipeline.deferral.topic import LedgerTopic, LogRecord
from pipeline.deferral.wire import Command, command_done, key_of, parse, tombstone
from pipeline.errors import PipelineError, RefusedError
from pipeline.ops import commands
from pipeline.ops.deferred import Wish, details, entries_in, lines, opened, parse_position, wish
from pipeline.records.record import Position
from tests.unit.pipeline.deferral.making import POSITIONS, entry, offsets
from tests.unit.pipeline.deferral.memory_topic import TOPIC, Log, MemoryTopic
from tests.unit.pipeline.least_config import write_config
from tests.unit.pipeline.making import make_config, make_event

Run = Callable[..., Result]

# --- positions


@given(POSITIONS)
def test_a_position_is_read_as_it_is_printed(position: Position) -> None:
    assert parse_position(str(position)) == position


def test_a_position_may_be_copied_from_the_topic_itself() -> None:
    assert parse_position(key_of(Position("page_change.v1", 3, 42)).decode()) == Position("page_change.v1", 3, 42)


NO_POSITIONS = ("", "topic", "topic/0", "topic/0/", "topic//5", "/0/5", "topic/0/5/6", "topic/0/-5", "topic/-1/5")
NO_NUMBERS = ("5.0", "five", "9" * 20, "\u0665")


@pytest.mark.parametrize(
    "text",
    [
        *NO_POSITIONS,
        *(f"topic/0/{offset}" for offset in NO_NUMBERS),
        *("topic/1_0/5", "topic/ 1/5", "topic/01/5", "\ud800/0/5"),
    ],
)
def test_what_is_no_position_is_refused_with_its_form(text: str) -> None:
    with pytest.raises(RefusedError, match="is no position") as caught:
        parse_position(text)
    assert "topic/partition/offset" in str(caught.value.hint)


# --- list and show


def test_a_job_that_defers_nothing_has_no_ledger() -> None:
    with pytest.raises(RefusedError, match="rdf-decide defers nothing"), opened(make_config(job="rdf-decide")):
        pass


def test_entries_come_in_the_order_of_the_source() -> None:
    log = Log()
    log.put(entry(5, "q"), entry(2), entry(9), epoch=1)
    log.append([tombstone(entry(9).position, topic=TOPIC, epoch=1)])
    topic = MemoryTopic(log)
    assert offsets(entries_in(topic.as_topic())) == [2, 5]
    assert offsets(entries_in(topic.as_topic())) == [2, 5], "every look begins at the beginning"


def test_the_table_says_why_and_when() -> None:
    heading, *rows = lines(
        [
            entry(1, stuck=True, attempt=2, not_before_ms=61_000, reason="status 504"),
            entry(2, reason="waits for an earlier event of its page"),
            entry(3, value=None, dropped=True, reason="x" * 999),
            entry(4, stuck=True, not_before_ms=86_400_000),
        ],
        now_ms=1_000,
        longest_rest_ms=60_000,
    )
    assert heading.split() == ["position", "kind", "tries", "due", "in", "bytes", "reason"]
    assert rows[0].split() == ["source/0/1", "stuck", "2", "60", "s", "5", "status", "504"]
    assert rows[1].split()[:5] == ["source/0/2", "waiting", "0", "now", "5"]
    assert rows[2].split()[:5] == ["source/0/3", "dropped", "0", "now", "0"]
    assert len(rows[2]) < 300
    assert rows[3].split()[:4] == ["source/0/4", "stuck", "0", "now"], "the clock was set back since"


EVENT = orjson.dumps(make_event(page_id=9))
PLACES = tuple(Position("source", 0, offset) for offset in range(22))


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        (
            {"stuck": True, "attempt": 3, "not_before_ms": 1000, "value": EVENT, "dropped": True},
            ["source/0/1", "dropped, stuck", "tries       3", "1970-01-01T00:00:01.000+00:00", "edit of revision"],
        ),
        ({"value": EVENT}, [EVENT.decode()]),
        ({"value": None}, ["page key    b'p'"]),
        ({"value": b"\xff{"}, ["event       cannot be read: "]),
        ({"key": None}, ["page key    None"]),
        ({"not_before_ms": 10**17}, [f"not before  {10**17} ms since the epoch"]),
        ({"appended_us": -(2**62)}, ["ms since the epoch"]),
        ({}, ["not before  at once"]),
        ({"counted": PLACES[:2]}, ["stands for  source/0/0, source/0/1\n"]),
        ({"counted": PLACES}, ["source/0/19, and 2 more events\n"]),
    ],
)
def test_details_of_an_event(changes: dict[str, Any], parts: list[str]) -> None:
    text = "\n".join([*details(entry(1, **changes)), ""])
    assert [part for part in parts if part not in text] == []
    assert ("stands for" in text) == ("counted" in changes)


def test_details_of_a_large_event_are_short() -> None:
    many = tuple(Position("source", 0, offset) for offset in range(10_000))
    assert len("\n".join(details(entry(1, value=b"x" * 1_000_000, counted=many)))) < 5000


# --- wishes


class Job:
    """Carries out what it finds when the operator's program has looked so often; the operator sleeps on its clock."""

    def __init__(self, log: Log, looks: int) -> None:
        self._log, self._looks = log, looks
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self._looks -= 1
        if self._looks == 0:
            items = [parse(r.key, r.value, r.headers, partition=0, offset=r.offset) for r in self._log.records]
            self._log.append(
                [command_done(item.id, topic=TOPIC, epoch=1) for item in items if isinstance(item, Command)]
            )


def wished(log: Log, *positions: Position, looks: int, wait_s: float = 10) -> tuple[list[Wish], float]:
    job = Job(log, looks)
    topic = MemoryTopic(log).as_topic()
    return wish(topic, "drop", positions, wait_s=wait_s, clock=job.clock, sleep=job.sleep), job.now


def test_a_job_that_runs_carries_it_out() -> None:
    log = Log()
    log.put(entry(1), entry(2), epoch=1)
    outcomes, waited_s = wished(log, entry(1).position, Position("source", 0, 99), entry(2).position, looks=3)
    assert [(one.position.offset, one.known, one.done) for one in outcomes] == [
        (1, True, True),
        (99, False, False),
        (2, True, True),
    ]
    assert waited_s < 1


def test_without_a_job_the_wish_stands_in_the_topic() -> None:
    log = Log()
    log.put(entry(1), epoch=1)
    (outcome,), waited_s = wished(log, entry(1).position, looks=1000, wait_s=2)
    assert (outcome.known, outcome.done) == (True, False)
    assert 2 <= waited_s < 2.5
    (stands,) = log.folded().commands
    assert (stands.action, stands.position) == ("drop", entry(1).position)


def test_nobody_waits_where_there_is_nothing_to_wait_for() -> None:
    log = Log()
    _, waited_s = wished(log, Position("source", 0, 99), looks=1000)
    assert waited_s == 0
    assert log.records == []


def test_a_position_that_is_named_twice_is_wished_once() -> None:
    log = Log()
    log.put(entry(1), epoch=1)
    outcomes, _ = wished(log, entry(1).position, entry(1).position, looks=1)
    assert len(outcomes) == 1
    assert len(log.records) == 3


def test_the_done_of_a_driver_that_was_given_up_does_not_count() -> None:
    log = Log()
    log.put(entry(1), epoch=1)
    for _ in range(2):
        LedgerLog(MemoryTopic(log).as_topic()).begin()
    (outcome,), _ = wished(log, entry(1).position, looks=1, wait_s=1)
    assert not outcome.done, "the job of this test writes as epoch 1, and 2 has begun"


# --- the commands


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `pipeline deferred …` on a log; a stopped job, so nobody carries anything out."""

    def go(
        *arguments: str,
        on: Log | MemoryTopic | None = None,
        into: Log | None = None,
        failure: PipelineError | None = None,
    ) -> Result:
        @contextmanager
        def opened(_config: PipelineConfig, *, new: str | None = None) -> Iterator[LedgerTopic]:
            if failure:
                raise failure
            if new:
                yield MemoryTopic(into or Log(), topic=new).as_topic()
            else:
                yield (on if isinstance(on, MemoryTopic) else MemoryTopic(on or Log())).as_topic()

        monkeypatch.setattr(commands, "opened", opened)
        return CliRunner().invoke(main, ["deferred", *arguments, "--config", str(write_config(tmp_path))])

    return go


@pytest.fixture
def log() -> Log:
    made = Log()
    made.put(entry(1, stuck=True), entry(2), epoch=1)
    return made


def test_an_empty_ledger_says_so(run: Run) -> None:
    assert run("list").stdout == "nothing is deferred\n"
    assert run("retry", "--all").stdout == "nothing is deferred\n"


def test_list_and_show(run: Run, log: Log) -> None:
    listed = [line.split()[0] for line in run("list", on=log).stdout.splitlines()]
    assert listed == ["position", "source/0/1", "source/0/2"]
    assert "kind        stuck" in run("show", "source/0/1", on=log).stdout


def test_wishes_are_recorded(run: Run, log: Log) -> None:
    result = run("retry", "--all", "--wait", "0", on=log)
    recorded = "recorded; the job carries it out when it runs"
    assert (result.exit_code, result.stdout) == (0, f"source/0/1: {recorded}\nsource/0/2: {recorded}\n")
    assert [one.action for one in log.folded().commands] == ["retry", "retry"]
    result = run("drop", "source/0/2", "--wait", "0", on=log)
    assert (result.exit_code, result.stdout) == (0, f"source/0/2: {recorded}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "source/0/7"], "source/0/7 is not deferred"),
        (["show", "nowhere"], "'nowhere' is no position"),
        (["retry"], "neither positions nor --all"),
        (["retry", "--all", "source/0/1"], "positions and --all"),
        (["drop", "source/0/7", "--wait", "0"], "source/0/7: is not deferred"),
        (["drop"], "Missing argument"),
        (["move", "mw_page_html_content_change_enrich.deferred"], "is deferral.topic already"),
        (["drop", "source/0/1", "--wait", "-1"], "-1"),
        (["drop", "source/0/7", "--wait", "nan"], "'nan' is no number"),
    ],
)
def test_what_cannot_be_done_is_exit_2(run: Run, log: Log, arguments: list[str], message: str) -> None:
    result = run(*arguments, on=log)
    assert result.exit_code == 2
    assert message in result.output
    assert log.folded().commands == ()


def test_one_unknown_position_does_not_keep_the_others(run: Run, log: Log) -> None:
    result = run("retry", "source/0/7", "source/0/1", "--wait", "0", on=log)
    assert result.exit_code == 2
    assert [one.position.offset for one in log.folded().commands] == [1]


class Resolving(MemoryTopic):
    """A job at work: some events have left by the operator's second look."""

    def __init__(self, log: Log, *gone: Position) -> None:
        super().__init__(log)
        self._gone, self._looks = gone, 0

    def read(self, *, from_beginning: bool = False) -> Iterator[LogRecord]:
        self._looks += 1
        if self._looks == 2:
            self.log.append([tombstone(position, topic=TOPIC, epoch=1) for position in self._gone])
        return super().read(from_beginning=from_beginning)


@pytest.mark.parametrize(
    ("gone", "message"),
    [
        ((1,), "source/0/2: recorded; the job carries it out when it runs\n1 resolved by the job meanwhile\n"),
        ((1, 2), "2 resolved by the job meanwhile\n"),
    ],
)
def test_what_leaves_while_all_is_retried_is_no_error(run: Run, log: Log, gone: tuple[int, ...], message: str) -> None:
    topic = Resolving(log, *(entry(offset).position for offset in gone))
    result = run("retry", "--all", "--wait", "0", on=topic)
    assert (result.exit_code, result.stdout) == (0, message)
    assert [one.position.offset for one in log.folded().commands] == [at for at in (1, 2) if at not in gone]


def test_what_is_deferred_moves_into_a_new_topic(run: Run, log: Log) -> None:
    log.append([tombstone(entry(2).position, topic=TOPIC, epoch=1)], partition=1)
    listed = run("list", on=log)
    assert listed.exit_code == 2
    assert "deferred move NEW_TOPIC" in listed.stderr
    into = Log()
    moved = run("move", "deferred-2", on=log, into=into)
    assert (moved.exit_code, moved.stdout.splitlines()[0]) == (
        0,
        "1 deferred event moved from mw_page_html_content_change_enrich.deferred to deferred-2",
    )
    assert "set deferral.topic to deferred-2, and start the job with --adopt-ledger" in moved.stdout
    assert [line.split()[0] for line in run("list", on=into).stdout.splitlines()] == ["position", "source/0/1"]
    again = run("move", "deferred-2", on=log, into=into)
    assert (again.exit_code, "deferred-2 is not empty" in again.stderr) == (2, True)


def test_a_topic_that_cannot_be_read_is_exit_1(run: Run) -> None:
    failure = PipelineError("ledger topic x is not there", hint="a job makes it")
    result = run("list", failure=failure)
    assert (result.exit_code, result.stderr) == (1, "error: ledger topic x is not there\nhint: a job makes it\n")
