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
from pipeline.schemas import PAGE_CHANGE_URI
from pipeline.worker.engine import LoopThread
from tests.unit.pipeline.least_config import least_config

T = TypeVar("T")
MakeEvent = Callable[..., dict[str, Any]]
MakeConfig = Callable[..., PipelineConfig]

# Far beyond what any of these tests takes: it turns a deadlock into a failure.
HANG_SECONDS = 20


@pytest.fixture(scope="session")
def make_event() -> MakeEvent:
    return event


@pytest.fixture(scope="session")
def make_config() -> MakeConfig:
    """A configuration; keywords are sections that replace or add to the least there can be."""

    def make(**sections: Any) -> PipelineConfig:
        return PipelineConfig.model_validate(least_config(**{"parent_cache": {"policy": "none"}} | sections))

    return make


@pytest.fixture
def keeping_config(
    make_config: MakeConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PipelineConfig]:
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


def event(kind: str = "edit", *, page_id: int = 7, **changes: Any) -> dict[str, Any]:
    """A page change event; `revision`, `meta` and `page` add to what is there, None takes a member away."""
    rev_id = page_id * 4096 + 2
    made: dict[str, Any] = {
        "$schema": PAGE_CHANGE_URI,
        "meta": {
            "stream": "mediawiki.page_change.v1",
            "dt": "2026-03-02T09:00:00.150Z",
            "id": "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a",
            "domain": "en.wikipedia.org",
        },
        "dt": "2026-03-02T09:00:00Z",
        "wiki_id": "enwiki",
        "changelog_kind": {"create": "insert", "undelete": "insert", "delete": "delete"}.get(kind, "update"),
        "page_change_kind": kind,
        "page": {"page_id": page_id, "page_title": "Äpfel", "namespace_id": 0},
        "revision": {
            "rev_id": rev_id,
            "rev_dt": "2026-03-02T09:00:00Z",
            "rev_parent_id": rev_id - 1,
            "content_slots": {"main": {"slot_role": "main", "content_model": "wikitext"}},
        },
    }
    for name, value in changes.items():
        if isinstance(value, dict) and isinstance(made.get(name), dict):
            merged = made[name] | value
            made[name] = {key: item for key, item in merged.items() if item is not None}
        elif value is None:
            del made[name]
        else:
            made[name] = value
    return made
