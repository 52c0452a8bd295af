"""Looking at something in a thread of its own, for as long as a `with` lasts."""

import threading
import time
from abc import ABC, abstractmethod
from typing import Self


class Beside(ABC):
    """`_run` begins on entering, and has to end soon when `_stopped` is set, which leaving does. `_begun` is the moment
    of entering, by `time.monotonic`.
    """

    def __init__(self, name: str) -> None:
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._begun = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    @abstractmethod
    def _run(self) -> None: ...
