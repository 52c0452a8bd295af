"""Looks at what may change under a job that runs, in a thread of its own.

A look asks the object store, for example, which may not answer for minutes. What ends a job whose batch is late must
not wait for that.
"""

import threading
from collections.abc import Callable, Sequence


class Looking:
    """Does all looks, one after the other, every `every_s` seconds, until it is told to end or one of them raises."""

    def __init__(self, looks: Sequence[Callable[[], None]], every_s: float, *, name: str = "looking") -> None:
        self._looks, self._every_s = looks, every_s
        self._over = threading.Event()
        self._failure: Exception | None = None
        # A daemon, as a look that is not answered would keep the process.
        self._thread = threading.Thread(target=self._look, name=name, daemon=True)

    def __enter__(self) -> "Looking":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def check(self) -> None:
        """Raises what a look has raised."""
        if self._failure is not None:
            raise self._failure

    def _look(self) -> None:
        while not self._over.wait(self._every_s):
            try:
                for look in self._looks:
                    look()
            except Exception as error:  # noqa: BLE001 - whatever it is, it ends the job, in the thread that watches
                self._failure = error
                return
