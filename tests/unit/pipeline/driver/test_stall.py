import pytest

from pipeline.driver.stall import StalledError, StallWatch


def test_a_batch_that_does_not_commit_in_its_time_is_named() -> None:
    now = 0.0
    watch = StallWatch(10, lambda: now)
    now = 100.0
    watch.check()
    watch.begin(3)
    now = 110.0
    watch.check()
    now = 110.1
    with pytest.raises(StalledError, match="no commit within 10 s: batch 3"):
        watch.check()


def test_a_committed_batch_is_not_late_and_the_next_has_its_own_time() -> None:
    now = 0.0
    watch = StallWatch(10, lambda: now)
    watch.begin(0)
    now = 9.0
    watch.end()
    now = 20.0
    watch.check()
    watch.begin(1)
    now = 29.0
    watch.check()


def test_what_did_not_come_to_its_end_is_named() -> None:
    """A batch that is emitted is not at work any more, and one that is committed is not late."""
    now = 0.0
    watch = StallWatch(10, lambda: now)
    watch.begin(0)
    watch.emitted(0)
    now = 10.1
    with pytest.raises(StalledError, match=r"batch 0 is emitted, and its commit is not written") as committing:
        watch.check()
    watch.committed(0)
    watch.check()
    now = 20.2
    with pytest.raises(
        StalledError, match=r"^no commit within 10 s: batch 0 is committed, and the next one"
    ) as planning:
        watch.check()
    assert (committing.value.stage, planning.value.stage) == ("commit", "planning")
    assert "brokers" in (planning.value.hint or "")


def test_late_news_of_a_batch_changes_nothing_of_the_next() -> None:
    now = 0.0
    watch = StallWatch(10, lambda: now)
    watch.committed(0)
    assert watch.batch is None, "nothing is planned of which no batch was seen"
    watch.begin(1)
    watch.emitted(0)
    watch.committed(0)
    now = 10.1
    with pytest.raises(StalledError, match="batch 1 is still at work") as late:
        watch.check()
    assert late.value.stage == "batch"


def test_only_the_batch_that_was_seen_is_ended() -> None:
    """Whoever looked may be late: the next batch has begun meanwhile, and must be watched."""
    now = 0.0
    watch = StallWatch(10, lambda: now)
    assert watch.batch is None
    watch.begin(0)
    seen = watch.batch
    watch.begin(1)
    watch.end(seen)
    now = 10.1
    with pytest.raises(StalledError, match="batch 1"):
        watch.check()
    watch.end(1)
    watch.check()
    assert watch.batch is None
