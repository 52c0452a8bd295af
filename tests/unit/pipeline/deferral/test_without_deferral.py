"""A checkpoint's ledger and a job that is started without deferral: what is deferred would be left there."""

import pytest

from pipeline import log as log_module
from pipeline.deferral.ledger_log import LedgerLog, require_nothing_deferred
from pipeline.deferral.ledger_start import LedgerMark, LedgerWish
from pipeline.errors import RefusedError
from tests.unit.pipeline.deferral.making import entry
from tests.unit.pipeline.deferral.memory_topic import TOPIC, Log, MemoryTopic


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    """As a job has left it that began one epoch."""
    monkeypatch.setattr(log_module, "emit", lambda _: None)
    log = Log()
    LedgerLog(MemoryTopic(log).as_topic()).begin()
    return log


def start(log: Log, wish: LedgerWish | None = None) -> LedgerMark | None:
    return require_nothing_deferred(MemoryTopic(log).as_topic(), wish)


@pytest.mark.parametrize("wish", [None, "adopt"])
def test_deferred_events_are_not_left_behind(log: Log, wish: LedgerWish | None) -> None:
    log.put(entry(7), entry(8), epoch=1)
    records = list(log.records)
    with pytest.raises(RefusedError, match=r"^ledger topic ledger holds 2 deferred events") as caught:
        start(log, wish)
    assert "deferral.policy: defer" in str(caught.value.hint)
    assert log.records == records, "the job whose ledger it is goes on"


def test_an_empty_ledger_is_no_reason(log: Log) -> None:
    records = list(log.records)
    assert start(log) is None
    assert log.records == records


def test_an_operator_may_give_them_up(log: Log) -> None:
    log.put(entry(7), entry(8), epoch=1)
    assert start(log, "discard") == LedgerMark(TOPIC, "id-1", 2)
    folded = log.folded()
    assert (folded.deferred, folded.epoch) == ({}, 2)
