"""Waiting for a named condition with a deadline: the only way the kit waits."""

import contextlib
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TypeVar

from devkit.errors import WaitTimeoutError

T = TypeVar("T")


def wait_until(
    condition: Callable[[], T | None],
    *,
    what: str,
    deadline: timedelta,
    interval: timedelta = timedelta(milliseconds=50),
    hint: str | None = None,
) -> T:
    """Ask `condition` until it returns something true, and return that.

    `what` completes "waited for …". An error that `condition` raises ends the wait.
    Raises WaitTimeoutError, naming the condition and the deadline.
    """
    started = time.monotonic()
    while True:
        if value := condition():
            return value
        if time.monotonic() - started > deadline.total_seconds():
            raise WaitTimeoutError(f"waited {deadline.total_seconds():g} s for {what}, in vain", hint=hint)
        time.sleep(interval.total_seconds())


@contextlib.contextmanager
def explaining_timeouts(reason: Callable[[], str]) -> Iterator[None]:
    """A wait in vain has `reason` in its message too, unless that is empty. Raises what the body raises."""
    try:
        yield
    except WaitTimeoutError as error:
        if why := reason():
            raise WaitTimeoutError(f"{error}: {why}", hint=error.hint) from error
        raise
