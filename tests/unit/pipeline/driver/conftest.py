from collections.abc import Iterator

import pytest

from pipeline import log
from pipeline.events import Event
from tests.unit.signal_handlers import restored_handlers


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """The log events that are emitted."""
    emitted: list[Event] = []
    monkeypatch.setattr(log, "emit", emitted.append)
    return emitted


@pytest.fixture
def handlers() -> Iterator[None]:
    """At the end the handlers of this process's signals are those of the beginning."""
    with restored_handlers():
        yield
