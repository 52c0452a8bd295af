import threading
from collections.abc import Callable
from datetime import timedelta

import pytest

from devkit.waiting import wait_until
from pipeline.driver.query import PeriodicChecks
from pipeline.errors import PipelineError

DEADLINE = timedelta(seconds=10)


def failing() -> None:
    raise PipelineError("another start has taken it over")


def counting(times: list[int]) -> Callable[[], None]:
    return lambda: times.append(len(times))


def test_it_looks_again_and_again_until_the_end() -> None:
    times: list[int] = []
    with PeriodicChecks([counting(times)], 0.001, name="checks") as checks:
        wait_until(lambda: len(times) > 2, what="a third look", deadline=DEADLINE)
        checks.check()


def test_what_a_look_raises_comes_out_where_it_is_asked() -> None:
    after: list[int] = []
    with PeriodicChecks([failing, counting(after)], 0.001, name="checks") as checks:

        def has_failed() -> bool:
            try:
                checks.check()
            except PipelineError:
                return True
            return False

        wait_until(has_failed, what="the failure", deadline=DEADLINE)
        with pytest.raises(PipelineError, match="taken it over"):
            checks.check()
    assert not after


def test_a_look_without_an_answer_holds_nobody() -> None:
    begun, answer = threading.Event(), threading.Event()

    def unanswered() -> None:
        begun.set()
        answer.wait(DEADLINE.total_seconds())

    with PeriodicChecks([unanswered], 0.001, name="checks") as checks:
        assert begun.wait(DEADLINE.total_seconds())
        checks.check()
    assert not answer.is_set(), "the end did not wait for it either"
    answer.set()
