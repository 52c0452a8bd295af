"""The one timeline of a run: `events.jsonl`, a line for each thing that happened or was sampled, in order."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class Timeline:
    """Times are seconds since the run began. Safe to use from several threads."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def now_s(self) -> float:
        return self._clock() - self._started

    def add(self, kind: str, *, arm: str | None = None, **fields: Any) -> None:
        """Write one line; it is on disk at once, so that a killed run leaves what it saw."""
        with self._lock:  # the time as well, or lines of two threads could stand out of order
            head: Mapping[str, Any] = {"t_s": round(self.now_s(), 3), "kind": kind} | ({"arm": arm} if arm else {})
            self._file.write(json.dumps(dict(head) | fields, ensure_ascii=False) + "\n")
            self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
