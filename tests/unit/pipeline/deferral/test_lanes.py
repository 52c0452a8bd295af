"""The driver's lanes around a ledger's topic in memory: batches, rounds and operators' commands."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.entry import Resolved, Rewritten
from pipeline.deferral.fold import FencedError
from pipeline.deferral.lanes import Lanes
from pipeline.deferral.wire import NullRecord, command_record, epoch_marker, key_of, tombstone
from pipeline.errors import PipelineError
from pipeline.records.record import Position, SourcePartition
from tests.unit.pipeline.deferral.lanes_bench import HANG_S, NOW_MS, TASK, MakeDriver, Rounds, until, waiting_batch
from tests.unit.pipeline.deferral.making import entry, offsets
from tests.unit.pipeline.deferral.memory_topic import TOPIC, Log, MemoryTopic

# --- taking over


def test_a_driver_takes_over_what_the_topic_says(driver: MakeDriver) -> None:
    started = driver(entry(1), entry(2), entry(3, "q"))
    assert started.lanes.epoch == 1
    (figures,) = started.events("deferral")
    assert (figures["entries"], figures["pages"]) == (3, 2)


def test_void_records_are_written_over_at_the_start(driver: MakeDriver) -> None:
    """Compaction may have dropped the valid record behind the void one, or else does so in a while."""
    log = driver(entry(1)).log
    driver(log_of=log)
    log.put(entry(1, reason="of a driver that was given up"), entry(9), epoch=1)
    log.append([tombstone(entry(8).position, topic=TOPIC, epoch=1)])
    third = driver(log_of=log)
    assert third.lanes.epoch == 3
    (repairs,) = third.topic.writes[1:]
    assert not any(isinstance(record, NullRecord) for record in repairs)
    assert third.remaining() == [1, 9]
    assert offsets(third.log.folded().voids) == [8], "it may not have left yet"
    third.lanes.committed({SourcePartition("source", 0): 9})
    third.batch(1)
    assert third.log.folded().voids == []


def test_commands_of_the_time_it_was_stopped_are_carried_out_at_the_start(driver: MakeDriver) -> None:
    log = driver(entry(1, stuck=True, not_before_ms=NOW_MS + 1, attempt=2), entry(2)).log
    log.append([command_record("a", "drop", entry(1).position, topic=TOPIC)])
    log.append([command_record("b", "retry", entry(77).position, topic=TOPIC)])
    second = driver(log_of=log)
    folded = log.folded()
    assert folded.commands == ()
    dropped = folded.entries[entry(1).position]
    assert (dropped.dropped, dropped.not_before_ms, dropped.attempt) == (True, 0, 2)
    assert [(line["action"], line["found"]) for line in second.events("command")] == [("drop", True), ("retry", False)]


def test_whether_a_batch_is_replayed_is_asked_behind_the_marker(
    driver: MakeDriver, make_config: Callable[..., PipelineConfig]
) -> None:
    """Until then a driver that still lives may plan one, and would not be told that it is given up."""
    topic = MemoryTopic()
    asked: list[int] = []

    def replay() -> None:
        asked.append(topic.log.folded().epoch)

    Lanes(make_config(), topic.as_topic(), Rounds(topic.log), replay=replay).take_over()
    assert asked == [1]


# --- around a batch


def test_a_batch_takes_waiting_entries_along_and_resolves_what_it_does_not_write_again(driver: MakeDriver) -> None:
    """It resolves 1, defers 2 again and 3 behind it, and puts 9 aside."""
    ours = driver(entry(1), entry(2), entry(3), entry(5, "q", stuck=True))
    ours.batch(4, entry(2, stuck=True), entry(3), entry(9, "r", stuck=True))
    assert ours.remaining() == [2, 3, 5, 9]
    assert (ours.events("deferral")[-1]["entries"], ours.events("deferral")[-1]["pages"]) == (4, 3)
    assert offsets(ours.lanes.plan(5).reserved) == []


def test_what_a_lost_attempt_wrote_is_not_the_batchs_and_is_written_over(driver: MakeDriver) -> None:
    """Spark took its executor for lost: the one that took its place emitted 1 and 9, and put 8 aside."""
    ours = driver(entry(1))
    snapshot = ours.lanes.plan(4)
    ours.log.put(entry(1, stuck=True), entry(8, "q", attempt=5), entry(9, "r", stuck=True), epoch=1, batch=4, task=6)
    ours.log.put(entry(8, "q", stuck=True), epoch=1, batch=4, task=TASK)
    ours.log.put(entry(8, "q", attempt=6), epoch=1, batch=4, task=6)
    ours.lanes.written(snapshot, 4, {TASK})
    assert ours.log.folded().entries == {entry(8).position: entry(8, "q", stuck=True)}
    assert ours.lanes.plan(5).unreserved == {entry(8).position}


def test_what_it_writes_when_the_batch_is_over_is_written_over_too(driver: MakeDriver) -> None:
    ours = driver()
    ours.batch(4)
    ours.log.put(entry(3, stuck=True), epoch=1, batch=4, task=6)
    assert ours.remaining() == [3]
    ours.look(after_s=2)
    assert ours.remaining() == []
    ours.log.put(entry(3, stuck=True), epoch=1, batch=4, task=6)
    ours.batch(5)
    assert ours.remaining() == []


def test_an_entry_that_becomes_too_large_is_known_as_the_topic_has_it(driver: MakeDriver) -> None:
    ours = driver(entry(1, stuck=True, value=bytes(3000)))
    ours.topic.limit_bytes = 1000
    ours.finish_round(Rewritten(entry(1).position, 2, NOW_MS + 9, "again"))
    (kept,) = ours.log.folded().entries.values()
    assert (kept.dropped, kept.value, kept.attempt) == (True, None, 2)
    assert ours.lanes._ledger.get(kept.position) == kept


def test_the_topic_is_read_before_anything_is_resolved(driver: MakeDriver) -> None:
    """What the batch wrote again must not be taken for resolved; and a driver that was given up resolves nothing."""
    ours = driver(entry(1))
    snapshot = ours.lanes.plan(0)
    driver(log_of=ours.log)
    with pytest.raises(FencedError):
        ours.lanes.written(snapshot, 0, {TASK})
    assert ours.remaining() == [1]


def test_a_batch_ends_the_job_when_not_all_that_it_deferred_is_seen(driver: MakeDriver) -> None:
    """It is in a partition that the driver does not know, and would be taken for emitted."""
    ours = driver(entry(1), entry(2))
    with pytest.raises(PipelineError, match="batch 4 deferred 3 events, and 2 of them are in the partitions of ledger"):
        ours.batch(4, entry(2), entry(9, "r", stuck=True), deferred=3)
    assert ours.remaining() == [1, 2, 9], "nothing was resolved"


def test_tombstones_that_fail_fail_the_batch(driver: MakeDriver) -> None:
    ours = driver(entry(1))
    ours.topic.broken = "the broker is gone"
    with pytest.raises(PipelineError, match="the broker is gone"):
        ours.batch(0)


def test_reservations_are_bounded_by_the_batch(driver: MakeDriver) -> None:
    snapshot = driver(*(entry(offset) for offset in range(150))).lanes.plan(0)
    assert offsets(snapshot.reserved) == list(range(100))
    assert snapshot.blocked == {entry(100).page: entry(100).position}


@pytest.mark.parametrize(("rest_ms", "reserved"), [(60_000, []), (60_001, [1])])
def test_no_entry_rests_for_longer_than_the_configuration_may_ask(
    driver: MakeDriver, rest_ms: int, reserved: list[int]
) -> None:
    ours = driver(entry(1, not_before_ms=NOW_MS + rest_ms), slow_lane={"backoff_cap": "60s"})
    assert offsets(ours.lanes.plan(0).reserved) == reserved


def test_figures_are_said_when_they_change(driver: MakeDriver) -> None:
    ours = driver(entry(5, stuck=True))
    for number in range(3):
        ours.batch(number)
    assert len(ours.events("deferral")) == 1


# --- above the bound


def test_above_the_bound_a_batch_waits_until_the_slow_lane_has_made_room(driver: MakeDriver) -> None:
    """While it waits the main lane is idle, so the slow lane takes pages that only wait."""
    ours = driver(*(entry(offset, str(offset)) for offset in range(3)), max_entries=2)
    waiting = waiting_batch(ours)
    (line,) = ours.events("waiting")
    assert (line["batch"], line["entries"]) == (7, 3)
    assert "3 deferred events of" in line["reason"]
    assert "bound 2 and" in line["reason"]
    ours.look()
    until(lambda: ours.rounds.began)
    assert waiting.plans == []
    ours.rounds.go.set()
    assert waiting.plan.reserved == ()
    assert [line["batch"] for line in ours.events("resumed")] == [7]
    assert ours.remaining() == []


def test_a_stop_ends_the_wait(driver: MakeDriver) -> None:
    ours = driver(entry(1), entry(2), max_entries=1)
    waiting = waiting_batch(ours)
    ours.lanes.stop()
    assert "a wait was ended: 2 deferred events" in str(waiting.plan)
    assert ours.events("resumed") == []
    ours.lanes.check()


def test_a_round_that_fails_ends_the_wait_with_its_cause(driver: MakeDriver) -> None:
    ours = driver(entry(1), entry(2), max_entries=1)
    waiting = waiting_batch(ours)
    ours.rounds.failures.append(RuntimeError("first\nCaused by: a.B: worker exited"))
    ours.rounds.go.set()
    ours.look()
    assert str(waiting.plan) == "slow lane failed: a.B: worker exited"


def test_a_replayed_batch_does_not_wait_and_nothing_is_taken_before_it_is_written(driver: MakeDriver) -> None:
    """The slow lane may not make room, as earlier events of its pages may be among those of the batch."""
    ours = driver(entry(1, stuck=True), entry(2, stuck=True), max_entries=1, replay_from=0)
    ours.rounds.go.set()
    ours.look()
    snapshot = ours.lanes.plan(7)
    ours.look()
    assert ours.rounds.began == []
    ours.lanes.written(snapshot, 7, {TASK})
    ours.look()
    until(lambda: ours.rounds.began)
    assert ours.events("waiting") == []


def test_a_replayed_batch_waits_while_the_slow_lane_makes_room_before_it(driver: MakeDriver) -> None:
    ours = driver(entry(1, stuck=True), entry(5, stuck=True), max_entries=1, replay_from=5)
    waiting = waiting_batch(ours)
    ours.rounds.go.set()
    ours.look()
    assert offsets(waiting.plan.unreserved) == [5]
    assert [offsets(began) for began in ours.rounds.began] == [[1]]


def test_a_void_record_of_which_nothing_else_is_left_is_revived(driver: MakeDriver) -> None:
    """Compaction took the valid one behind which it was written."""
    log = Log()
    log.append([epoch_marker(3, topic=TOPIC, process=uuid4())])
    log.put(entry(1, stuck=True, attempt=2), entry(2), epoch=2)
    log.append([tombstone(entry(2).position, topic=TOPIC, epoch=2)])
    ours = driver(log_of=log)
    assert ours.lanes.plan(1).blocked == {entry(1).page: entry(1).position}
    assert ours.log.folded().entries == {entry(1).position: entry(1, stuck=True, attempt=2)}
    assert offsets(ours.log.folded().voids) == [2], "a tombstone, which hides nothing"


# --- the slow lane


def test_a_round_resolves_or_writes_again_what_it_took(driver: MakeDriver) -> None:
    rests = entry(4, "later", stuck=True, not_before_ms=NOW_MS + 1)
    ours = driver(entry(1, stuck=True), entry(2), entry(3, "q", stuck=True), rests)
    resolved = Resolved(entry(1).position, gave_up="fetch_failed: status 503"), Resolved(entry(2).position)
    ours.finish_round(*resolved, Rewritten(entry(3).position, 1, NOW_MS + 9, "again"))
    assert [offsets(began) for began in ours.rounds.began] == [[1, 2, 3]]
    (slow_round,) = ours.events("slow_round")
    assert (slow_round["pages"], slow_round["entries"], slow_round["resolved"], slow_round["rewritten"]) == (2, 3, 2, 1)
    assert ours.remaining() == [3, 4]
    # What the last try met is told, as the error event may not say it.
    assert ours.events("gave_up") == [
        {"event": "gave_up", "position": str(entry(1).position), "reason": "fetch_failed: status 503"}
    ]
    ours.look()
    assert len(ours.rounds.began) == 1, "what was written again rests"


@pytest.mark.parametrize("rounds", [1, 3])
def test_so_many_rounds_are_at_work_at_once(driver: MakeDriver, rounds: int) -> None:
    stuck = [entry(offset, str(offset), stuck=True) for offset in range(5)]
    ours = driver(*stuck, slow_lane={"rounds": rounds, "pages": 1})
    ours.look()
    ours.look()
    until(lambda: len(ours.rounds.began) == rounds)
    ours.look()
    assert len(ours.rounds.began) == rounds
    ours.rounds.go.set()

    def all_done() -> bool:
        ours.look()
        return len(ours.events("slow_round")) == 5

    until(all_done)
    assert sorted(offset for began in ours.rounds.began for offset in offsets(began)) == [0, 1, 2, 3, 4]


def test_pages_that_only_wait_are_for_the_main_lane_unless_it_is_idle(driver: MakeDriver) -> None:
    """The gap between two batches is not idle; a second without one is."""
    ours = driver(entry(1))
    ours.rounds.go.set()
    ours.look()
    ours.look(after_s=0.9)
    assert ours.rounds.began == []
    ours.look(after_s=0.2)
    until(lambda: ours.events("slow_round"))
    assert ours.remaining() == []


def test_a_batch_at_work_is_not_idle_however_long_it_takes(driver: MakeDriver) -> None:
    ours = driver(entry(1), entry(2, "q"))
    ours.lanes.plan(0)
    ours.look(after_s=1000)
    assert ours.rounds.began == []


@pytest.mark.parametrize(
    ("failure", "says"),
    [
        (RuntimeError("top\nCaused by: a.B: one\nCaused by: java.io.EOFException"), "slow lane failed: a.B: one"),
        (PipelineError("ledger topic x could not be written"), "ledger topic x could not be written"),
    ],
)
def test_a_round_that_fails_is_told_to_whoever_checks(driver: MakeDriver, failure: Exception, says: str) -> None:
    ours = driver(entry(1, stuck=True))
    ours.lanes.check()
    ours.rounds.failures.append(failure)
    ours.rounds.go.set()
    ours.look()

    def failed() -> bool:
        try:
            ours.lanes.check()
        except PipelineError as error:
            return str(error) == says
        return False

    until(failed)
    assert ours.remaining() == [1]
    assert ours.events("slow_round") == []


def test_after_a_stop_a_round_that_breaks_off_is_nobodys_failure(driver: MakeDriver) -> None:
    ours = driver(entry(1, stuck=True))
    ours.rounds.failures.append(RuntimeError("the session is gone"))
    ours.look()
    until(lambda: ours.rounds.began)
    ours.lanes.stop()
    ours.rounds.go.set()
    until(lambda: not ours.rounds.failures)
    ours.lanes.check()


def test_rounds_that_are_at_work_at_a_stop_are_counted_to_their_end_and_none_begins(driver: MakeDriver) -> None:
    stuck = [entry(offset, str(offset), stuck=True) for offset in range(3)]
    ours = driver(*stuck, slow_lane={"rounds": 2, "pages": 1})
    ours.look()
    ours.lanes.stop()
    assert ours.lanes.rounds == 2
    ours.rounds.go.set()
    until(lambda: ours.lanes.rounds == 0)
    ours.look()
    assert (ours.lanes.rounds, len(ours.rounds.began)) == (0, 2)
    assert len(ours.remaining()) == 1


def test_the_thread_of_the_slow_lane_tells_what_it_fails_of(driver: MakeDriver) -> None:
    ours = driver()
    driver(log_of=ours.log)
    ours.now[0] += 10
    thread = threading.Thread(target=ours.lanes._schedule, args=[ours.lanes.look])
    thread.start()
    thread.join(HANG_S)
    with pytest.raises(FencedError, match="epoch 2 has started"):
        ours.lanes.check()


# --- commands


def test_a_command_is_carried_out_within_a_second_while_no_batch_is_at_work(driver: MakeDriver) -> None:
    ours = driver(entry(1, stuck=True, not_before_ms=NOW_MS + 1))
    ours.wish("retry", 1)
    ours.look(after_s=0.9)
    assert ours.events("command") == []
    ours.rounds.go.set()
    ours.look(after_s=0.1)
    assert [(line["action"], line["position"]) for line in ours.events("command")] == [("retry", "source/0/1")]
    assert ours.log.folded().commands == ()
    until(lambda: ours.events("slow_round"))
    assert ours.remaining() == []


def test_while_a_batch_is_at_work_the_topic_is_left_to_it(driver: MakeDriver) -> None:
    """Who reads in between takes records of the batch away from its end."""
    ours = driver(entry(5, "q", stuck=True, not_before_ms=NOW_MS + 1))
    snapshot = ours.lanes.plan(0)
    ours.log.put(entry(1, stuck=True, not_before_ms=NOW_MS + 1), epoch=1, batch=0, task=TASK)
    ours.wish("drop", 1)
    ours.look(after_s=10)
    assert ours.events("command") == []
    ours.lanes.written(snapshot, 0, {TASK})
    assert [(line["position"], line["found"]) for line in ours.events("command")] == [("source/0/1", True)]
    assert ours.log.folded().entries[Position("source", 0, 1)].dropped


def test_a_command_waits_while_a_lane_is_at_the_page(driver: MakeDriver) -> None:
    ours = driver(entry(1, stuck=True), entry(2, "q", stuck=True, not_before_ms=NOW_MS + 1))
    ours.look()
    until(lambda: ours.rounds.began)
    ours.wish("drop", 1)
    ours.wish("drop", 2)
    ours.look(after_s=1)
    assert [line["position"] for line in ours.events("command")] == ["source/0/2"]
    ours.rounds.facts.append([Rewritten(entry(1).position, 1, NOW_MS + 1, "again")])
    ours.rounds.go.set()
    until(lambda: ours.events("slow_round"))
    assert [line["position"] for line in ours.events("command")] == ["source/0/2", "source/0/1"]
    dropped = ours.log.folded().entries[Position("source", 0, 1)]
    assert (dropped.dropped, dropped.attempt) == (True, 1)


def test_many_commands_are_two_writes_and_no_effect_comes_behind_a_done(driver: MakeDriver) -> None:
    ours = driver(*(entry(offset, stuck=True, not_before_ms=NOW_MS + 1) for offset in range(1, 51)))
    for offset in range(1, 51):
        ours.wish("retry", offset)
    ours.wish("drop", 7)
    ours.wish("retry", 99)
    before = len(ours.topic.writes)
    ours.look(after_s=1)
    effects, dones = ours.topic.writes[before:]
    assert sorted(record.key for record in effects) == sorted(key_of(entry(offset).position) for offset in range(1, 51))
    assert all(isinstance(record, NullRecord) and record.key.startswith(b"command/") for record in dones)
    folded = ours.log.folded()
    assert folded.commands == ()
    assert {found.not_before_ms for found in folded.entries.values()} == {0}
    assert [position.offset for position, found in folded.entries.items() if found.dropped] == [7]
    assert [line["position"] for line in ours.events("command") if not line["found"]] == ["source/0/99"]
    assert len(ours.events("command")) == 52


@pytest.mark.parametrize("writes", [0, 1], ids=["whose effect fails", "that are not noted as done"])
def test_commands_are_carried_out_again_after_a_crash(driver: MakeDriver, writes: int) -> None:
    """Once more changes nothing. The broker goes away after this number of writes."""
    ours = driver(entry(1, stuck=True, not_before_ms=NOW_MS + 1), entry(2, "q", stuck=True, not_before_ms=NOW_MS + 1))
    ours.wish("drop", 1)
    ours.wish("retry", 2)
    write, remaining = ours.topic.write, [writes]

    def broken_after_some(records: Any) -> None:
        if records and not remaining[0]:
            ours.topic.broken = "the broker is gone"
        remaining[0] -= bool(records)
        write(records)

    ours.topic.write = broken_after_some  # type: ignore[method-assign]
    with pytest.raises(PipelineError, match="the broker is gone"):
        ours.look(after_s=1)
    assert ours.events("command") == []
    after_crash = ours.log.folded()
    assert [command.id for command in after_crash.commands] == ["drop 1", "retry 2"]
    carried_out = {one.position: one for one in (entry(1, stuck=True, dropped=True), entry(2, "q", stuck=True))}
    assert (after_crash.entries == carried_out) == bool(writes)
    next_one = driver(log_of=ours.log)
    assert [line["position"] for line in next_one.events("command")] == ["source/0/1", "source/0/2"]
    assert (ours.log.folded().commands, ours.log.folded().entries) == ((), carried_out)
