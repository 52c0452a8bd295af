"""What the driver reads and writes under its epoch, and which ledger a start may take."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from pipeline import log as log_module
from pipeline.deferral.fold import FencedError
from pipeline.deferral.ledger_log import ANY, LedgerLog, require_nothing_deferred
from pipeline.deferral.ledger_start import LedgerMark, LedgerStart, LedgerWish, ledger_start
from pipeline.deferral.topic import LogRecord
from pipeline.deferral.wire import (
    TOO_LARGE,
    CommandDone,
    EntryItem,
    EpochMarker,
    UnreadableRecordError,
    command_record,
    epoch_marker,
    parse,
)
from pipeline.errors import PipelineError, RefusedError
from pipeline.records.record import Record
from tests.unit.pipeline.deferral.making import entry
from tests.unit.pipeline.deferral.memory_topic import TOPIC, Log, MemoryTopic

FIRST = ledger_start(new=True, known=None, wish=None)


def begun(log: Log, start: LedgerStart = ANY, **topic: Any) -> LedgerLog:
    ledger_log = LedgerLog(MemoryTopic(log, **topic).as_topic())
    ledger_log.begin(start)
    return ledger_log


def test_each_driver_begins_an_epoch_of_its_own_in_every_partition() -> None:
    log = Log(partition_count=3)
    assert [begun(log).epoch, begun(log).epoch] == [1, 2]
    markers = [(one.place.partition, one.epoch) for one in log.items() if isinstance(one, EpochMarker)]
    assert markers == [(partition, epoch) for epoch in (1, 2) for partition in range(3)]


def test_what_is_written_between_the_look_and_the_marker_counts() -> None:
    """A driver that is given up may still be at work until the marker is there."""
    log = Log()
    begun(log)
    topic = MemoryTopic(log, on_write=lambda: log.put(entry(7), epoch=1))
    folded = LedgerLog(topic.as_topic()).begin()
    assert [position.offset for position in folded.entries] == [7]
    assert folded.voids == []


def test_two_drivers_that_take_the_same_epoch_do_not_both_go_on() -> None:
    log = Log()
    with pytest.raises(PipelineError, match="another driver began epoch 1 at the same time") as caught:
        begun(log, on_write=lambda: log.append([epoch_marker(1, topic=TOPIC, process=uuid4())]))
    assert caught.value.exit_code == 1, "both may try again"
    assert begun(log).epoch == 2, "the next one to start takes over"


def test_a_driver_is_told_that_a_later_one_has_begun() -> None:
    log = Log()
    older = begun(log)
    assert older.read().entries == {}
    newer = begun(log)
    with pytest.raises(FencedError, match="epoch 2 has started, and this one is of epoch 1"):
        older.read()
    assert newer.read().entries == {}


def test_a_later_epoch_is_still_known_when_its_marker_lies_behind() -> None:
    log = Log()
    begun(log)
    ledger_log = begun(log)
    ledger_log.read()
    log.put(entry(1), epoch=1, batch=0)
    folded = ledger_log.read()
    assert (folded.entries, [position.offset for position in folded.voids]) == ({}, [1])


def test_what_it_writes_is_what_is_folded_later() -> None:
    log = Log()
    log.append([command_record("wish", "drop", entry(1).position, topic=TOPIC)])
    ledger_log = begun(log)
    assert ledger_log.put([entry(1, attempt=4)]) == [entry(1, attempt=4)]
    ledger_log.repair([(entry(2).position, entry(2, stuck=True)), (entry(3).position, None)])
    assert list(log.folded().entries.values()) == [entry(1, attempt=4), entry(2, stuck=True)]
    assert [command.id for command in log.folded().commands] == ["wish"]
    ledger_log.done(["wish"])
    ledger_log.resolve([entry(1).position])
    folded = log.folded()
    assert (list(folded.entries.values()), folded.commands) == ([entry(2, stuck=True)], ())
    done = [parse(r.key, r.value, r.headers, partition=0, offset=0) for r in log.records]
    assert {item.epoch for item in done if isinstance(item, CommandDone | EntryItem)} == {1}


def test_no_record_is_larger_than_the_topic_takes() -> None:
    log = Log()
    ledger_log = begun(log, limit_bytes=1000)
    written = ledger_log.put([entry(1, value=bytes(2000))])
    (put,) = log.folded().entries.values()
    assert written == [put], "the driver knows it as the topic has it"
    assert (put.value, put.dropped, put.reason) == (None, True, TOO_LARGE)
    assert ledger_log.limit_bytes == 1000


def test_the_topic_is_read_once_to_take_it_over() -> None:
    log = Log(partition_count=2)
    log.put(entry(1), entry(2), epoch=0)
    read: list[LogRecord] = []

    class Counted(MemoryTopic):
        def read(self, *, from_beginning: bool = False) -> Iterator[LogRecord]:
            for record in super().read(from_beginning=from_beginning):
                read.append(record)
                yield record

    folded = LedgerLog(Counted(log).as_topic()).begin()
    assert list(folded.entries.values()) == [entry(1), entry(2)]
    assert read == log.records


def test_a_record_that_cannot_be_read_leaves_the_topic_with_its_driver() -> None:
    log = Log()
    begun(log)
    log.append([Record(TOPIC, b"nonsense", b"", ())])
    before = list(log.records)
    with pytest.raises(UnreadableRecordError):
        begun(log)
    assert log.records == before


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (FIRST, "ledger topic ledger holds 1 deferred events"),
        (
            ledger_start(new=False, known=LedgerMark(TOPIC, "id-1", 2), wish=None),
            "knows no epoch after 1, and the job began its epoch 2 there",
        ),
    ],
    ids=["a first start, and the ledger holds events", "a ledger that lost its records"],
)
def test_a_ledger_that_is_not_taken_keeps_its_driver(start: LedgerStart, message: str) -> None:
    """The marker would end the job whose ledger it is."""
    log = Log()
    begun(log).put([entry(1)])
    before = list(log.records)
    with pytest.raises(RefusedError, match=message):
        begun(log, start)
    assert log.records == before


def test_a_first_start_takes_an_empty_one() -> None:
    log = Log()
    of_before = begun(log)
    of_before.put([entry(1)])
    of_before.resolve([entry(1).position])
    ledger_log = begun(log, FIRST)
    assert ledger_log.mark == LedgerMark(TOPIC, "id-1", 2)
    assert ledger_log.read().entries == {}


def test_what_is_discarded_is_gone_from_the_topic() -> None:
    log = Log()
    begun(log).put([entry(1), entry(2, stuck=True)])
    begun(log)
    log.put(entry(3), entry(2, stuck=True, attempt=7), epoch=1)
    ledger_log = LedgerLog(MemoryTopic(log).as_topic())
    folded = ledger_log.begin(ledger_start(new=False, known=None, wish="discard"))
    assert (folded.deferred, folded.voids) == ({}, [])
    assert (log.folded().deferred, log.folded().voids) == ({}, [])
    assert ledger_log.read().entries == {}


# --- a job that is started without deferral


@pytest.mark.parametrize("wish", [None, "adopt"])
def test_without_deferral_deferred_events_are_not_left_behind(wish: LedgerWish | None) -> None:
    log = Log()
    begun(log).put([entry(7), entry(8)])
    records = list(log.records)
    with pytest.raises(RefusedError, match=r"^ledger topic ledger holds 2 deferred events") as caught:
        require_nothing_deferred(MemoryTopic(log).as_topic(), wish)
    assert "deferral.policy: defer" in str(caught.value.hint)
    assert log.records == records, "the job whose ledger it is goes on"


def test_without_deferral_an_empty_ledger_is_no_reason() -> None:
    log = Log()
    begun(log)
    records = list(log.records)
    assert require_nothing_deferred(MemoryTopic(log).as_topic(), None) is None
    assert log.records == records


def test_without_deferral_an_operator_may_give_them_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "emit", lambda _: None)
    log = Log()
    begun(log).put([entry(7), entry(8)])
    assert require_nothing_deferred(MemoryTopic(log).as_topic(), "discard") == LedgerMark(TOPIC, "id-1", 2)
    assert (log.folded().deferred, log.folded().epoch) == ({}, 2)


# --- which ledger a start may take

MARK = LedgerMark("ledger", "id-1", 4)
RESTART = ledger_start(new=False, known=MARK, wish=None)


def test_a_restart_makes_nothing_and_keeps_what_it_finds() -> None:
    assert LedgerStart(MARK, missing="refuse", entries="keep") == RESTART
    assert ledger_start(new=False, known=None, wish=None).missing == "refuse", "of an earlier version, or a fork"


def test_a_first_start_makes_one_and_takes_none_that_holds_events() -> None:
    assert FIRST.missing == "make"
    FIRST.require_empty("ledger", 0)
    with pytest.raises(RefusedError, match="ledger topic ledger holds 3 deferred events") as caught:
        FIRST.require_empty("ledger", 3)
    assert "--adopt-ledger" in str(caught.value.hint)
    assert "--discard-ledger" in str(caught.value.hint)


@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize(("wish", "missing", "entries"), [("adopt", "refuse", "keep"), ("discard", "make", "discard")])
def test_an_operator_may_say_otherwise(new: bool, wish: LedgerWish, missing: str, entries: str) -> None:
    start = ledger_start(new=new, known=MARK, wish=wish)
    assert (start.known, start.missing, start.entries) == (None, missing, entries)
    start.require_id("other", "id-2")
    start.require_epoch("other", 0)
    start.require_empty("other", 5)


@pytest.mark.parametrize(("topic", "found"), [("ledger", "id-2"), ("other", "id-2"), ("other", None)])
def test_another_topic_is_not_taken(topic: str, found: str | None) -> None:
    with pytest.raises(RefusedError, match=r"is not the one of this checkpoint, ledger \(id id-1\)"):
        RESTART.require_id(topic, found)


def test_a_broker_that_reports_no_ids_cannot_tell() -> None:
    RESTART.require_id("ledger", "id-1")
    RESTART.require_id("ledger", None)
    ledger_start(new=False, known=LedgerMark("ledger", None, 4), wish=None).require_id("ledger", "id-1")


def test_a_topic_that_lost_its_records_is_not_taken() -> None:
    RESTART.require_epoch("ledger", 4)
    with pytest.raises(RefusedError, match="knows no epoch after 3, and the job began its epoch 4 there"):
        RESTART.require_epoch("ledger", 3)
