"""The producer of a worker's own, as one that notes what it is sent."""

import pytest

from pipeline.worker import spark_task
from tests.unit.pipeline.deferral.producing import NotingProducer


@pytest.fixture
def producer(monkeypatch: pytest.MonkeyPatch) -> NotingProducer:
    """Acknowledges everything."""
    made = NotingProducer()
    monkeypatch.setattr(spark_task, "_producer", lambda *_: made)
    return made
