"""Traffic on a stack that is up: the mock API knows its pages, and the events are published at their pace."""

import threading

from devkit.scenario.traffic import ScenarioTraffic
from devkit.stack.parts.mock_api import MockApi
from devkit.traffic.model import TrafficSpec

_LOOK_S = 0.5
_ENDING_S = 130.0
"""Longer than the producer waits for an answer."""


class StackTraffic:
    """Made, the mock has its pages; `publish` returns when all is out."""

    def __init__(self, spec: TrafficSpec, mock: MockApi, bootstrap: str, topic: str) -> None:
        traffic = ScenarioTraffic(spec)
        self.count = traffic.count
        mock.replace_pages(seed=spec.seed, catalog=traffic.catalog())
        self._ends = threading.Event()
        self._publisher = traffic.publisher(bootstrap, topic, self._ends)

    @property
    def published(self) -> int:
        """Events acknowledged so far."""
        return self._publisher.published

    def publish(self) -> None:
        """May be interrupted. Raises StackError, also for what `stop` cannot wait for."""
        self._publisher.start()
        while not self._publisher.done:
            self._ends.wait(_LOOK_S)

    def stop(self) -> None:
        """Publish no more, and wait for the answers to what is out. Raises StackError."""
        self._ends.set()
        self._publisher.result(_ENDING_S)
