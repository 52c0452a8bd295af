"""Which ledger a start may take, and what it does with what it finds there."""

import pytest

from pipeline.deferral.ledger_start import LedgerMark, LedgerStart, ledger_start
from pipeline.errors import RefusedError

MARK = LedgerMark("ledger", "id-1", 4)
RESTART = ledger_start(new=False, known=MARK, wish=None)


def test_a_restart_makes_nothing_and_keeps_what_it_finds() -> None:
    assert LedgerStart(MARK, missing="refuse", entries="keep") == RESTART
    assert ledger_start(new=False, known=None, wish=None).missing == "refuse", "of an earlier version, or a fork"


def test_a_first_start_makes_one_and_takes_none_that_holds_events() -> None:
    start = ledger_start(new=True, known=None, wish=None)
    assert start.missing == "make"
    start.require_empty("ledger", 0)
    with pytest.raises(RefusedError, match="ledger topic ledger holds 3 deferred events") as caught:
        start.require_empty("ledger", 3)
    assert "--adopt-ledger" in str(caught.value.hint)
    assert "--discard-ledger" in str(caught.value.hint)


@pytest.mark.parametrize("new", [True, False])
def test_an_operator_may_say_otherwise(new: bool) -> None:
    adopt = ledger_start(new=new, known=MARK, wish="adopt")
    assert (adopt.known, adopt.missing, adopt.entries) == (None, "refuse", "keep")
    discard = ledger_start(new=new, known=MARK, wish="discard")
    assert (discard.known, discard.missing, discard.entries) == (None, "make", "discard")
    for start in (adopt, discard):
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
