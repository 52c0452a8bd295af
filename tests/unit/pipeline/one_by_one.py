"""The engine's results one by one, for tests that are about neither their groups nor when these come."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from pipeline.worker import engine


def run(*given: Any, **named: Any) -> Iterator[Any]:
    """As `engine.run`."""
    with closing(engine.run(*given, **named)) as groups:
        for results in groups:
            yield from results
