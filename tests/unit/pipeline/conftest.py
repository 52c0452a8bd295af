import asyncio
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import pytest

from pipeline import log
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.events import fields_of
from pipeline.fetch import kept_revisions
from pipeline.worker.engine import LoopThread
from tests.unit.pipeline.making import make_config, make_event

T = TypeVar("T")
MakeEvent = Callable[..., dict[str, Any]]
MakeConfig = Callable[..., PipelineConfig]

# Far beyond what any of these tests takes: it turns a deadlock into a failure.
HANG_SECONDS = 20


@pytest.fixture(scope="session", name="make_event")
def _make_event() -> MakeEvent:
    return make_event


@pytest.fixture(scope="session", name="make_config")
def _make_config() -> MakeConfig:
    return make_config


@pytest.fixture
def keeping_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PipelineConfig]:
    """Of a job that keeps what it published, in a directory of this test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield make_config(parent_cache={"policy": "last"}, checkpoint=str(tmp_path))
    kept_revisions.open_kept.cache_clear()


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The log events that are emitted, as what is written of each."""
    lines: list[dict[str, Any]] = []
    monkeypatch.setattr(log, "emit", lambda event: lines.append({"event": event.event} | fields_of(event)))
    return lines


@pytest.fixture
def loop_thread() -> Iterator[LoopThread]:
    before = set(threading.enumerate())
    made = LoopThread()
    (thread,) = set(threading.enumerate()) - before
    yield made

    async def end() -> None:
        # A run that has ended leaves no work under way: what it cancelled comes to its end here.
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)

    asyncio.run_coroutine_threadsafe(end(), made.loop).result(HANG_SECONDS)
    made.loop.call_soon_threadsafe(made.loop.stop)
    thread.join(HANG_SECONDS)
    assert not thread.is_alive(), "the loop does not end"
    made.loop.close()


@pytest.fixture(scope="session")
def in_time() -> Callable[[Callable[[], T]], T]:
    """Calls what might hang for ever if the code were wrong; its result, or TimeoutError."""

    def call(action: Callable[[], T]) -> T:
        done: Future[T] = Future()

        def run() -> None:
            try:
                done.set_result(action())
            except BaseException as error:  # noqa: BLE001 — raised in the test
                done.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return done.result(HANG_SECONDS)

    return call
