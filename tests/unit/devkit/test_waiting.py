from collections.abc import Callable
from datetime import timedelta

import pytest

from devkit.errors import StackError, WaitTimeoutError
from devkit.waiting import explaining_timeouts, wait_until

AT_ONCE = timedelta(0)
LONG = timedelta(seconds=30)


def after(looks: int, value: str) -> Callable[[], str | None]:
    """A condition that comes true at the given look."""
    left = iter([None] * (looks - 1) + [value])
    return lambda: next(left)


def test_returns_what_the_condition_returned() -> None:
    assert wait_until(after(1, "ready"), what="it", deadline=LONG) == "ready"


def test_asks_until_it_is_true() -> None:
    assert wait_until(after(4, "ready"), what="it", deadline=LONG, interval=AT_ONCE) == "ready"


def test_a_condition_that_is_true_at_once_needs_no_time() -> None:
    assert wait_until(after(1, "ready"), what="it", deadline=timedelta(seconds=-1)) == "ready"


@pytest.mark.parametrize("never", [None, False, 0, ""])
def test_names_condition_deadline_and_hint_when_in_vain(never: object) -> None:
    with pytest.raises(WaitTimeoutError, match=r"^waited 0.001 s for Kafka to answer, in vain$") as caught:
        wait_until(
            lambda: never,
            what="Kafka to answer",
            deadline=timedelta(milliseconds=1),
            interval=AT_ONCE,
            hint="its log is here",
        )
    assert caught.value.hint == "its log is here"


def test_an_error_of_the_condition_ends_the_wait() -> None:
    def dead() -> bool:
        raise StackError("Kafka ended")

    with pytest.raises(StackError, match="Kafka ended"):
        wait_until(dead, what="it", deadline=LONG)


@pytest.mark.parametrize(
    ("reason", "message"), [("", "in vain"), ("the machine is busy", "in vain: the machine is busy")]
)
def test_a_wait_in_vain_says_why_it_may_be(reason: str, message: str) -> None:
    with pytest.raises(WaitTimeoutError, match=rf"{message}$") as caught, explaining_timeouts(lambda: reason):
        wait_until(lambda: False, what="it", deadline=AT_ONCE, interval=AT_ONCE, hint="its log is here")
    assert caught.value.hint == "its log is here"


def test_another_error_stays_as_it_is() -> None:
    with pytest.raises(StackError, match=r"^Kafka ended$"), explaining_timeouts(lambda: "the machine is busy"):
        raise StackError("Kafka ended")
