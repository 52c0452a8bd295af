from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from mockapi.wiki.edits.overlay import Overlay
from mockapi.wiki.people import Author
from mockapi.wiki.wiki import Wiki

SEED = 1
START = datetime(2026, 11, 21, 8, 7, 30, 123456, tzinfo=UTC)


@dataclass
class SteppingClock:
    """Each look is a second later, or whatever a test set."""

    at: datetime = START
    step: timedelta = timedelta(seconds=1)
    looks: list[datetime] = field(default_factory=list)

    def __call__(self) -> datetime:
        self.at += self.step
        self.looks.append(self.at)
        return self.at


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture
def wiki() -> Wiki:
    """A wiki that has only its main page, page 1."""
    return Wiki("testwiki", "test.example.org")


@pytest.fixture
def overlay(wiki: Wiki, clock: Callable[[], datetime]) -> Overlay:
    return Overlay(wiki, SEED, clock)


@pytest.fixture
def alice() -> Author:
    return Author("Alice", 2)


@pytest.fixture
def bob() -> Author:
    return Author("Bob", 3)
