"""Traffic on a stack that is up: the mock API knows its pages, and the events are published at their pace."""

import threading
from collections import Counter
from contextlib import closing

from devkit.scenario.traffic import ScenarioTraffic
from devkit.stack.parts.mock_api import MockApi
from devkit.stack.topic_reader import connect, require_topic
from devkit.traffic.manifest import ManifestEntry
from devkit.traffic.model import TrafficSpec

_LOOK_S = 0.5
_ENDING_S = 130.0
"""Longer than the producer waits for an answer."""
_ENDS = {"output": "output", "error": "error event", "filtered": "filtered"}


class StackTraffic:
    """Made, the mock has its pages; `publish` returns when all is out.

    Raises UsageError where the stack does not have one of its topics.
    """

    def __init__(self, spec: TrafficSpec, mock: MockApi, bootstrap: str, topic: str) -> None:
        traffic = ScenarioTraffic(spec)
        self.count = traffic.count
        self.topics = tuple(dict.fromkeys((topic, *traffic.further_topics)))
        _require_topics(bootstrap, self.topics)
        mock.replace_pages(seed=spec.seed, catalog=traffic.catalog())
        self._ends = threading.Event()
        self._publisher = traffic.publisher(bootstrap, topic, self._ends)

    def publish(self) -> None:
        """May be interrupted. Raises StackError, also for what `stop` cannot wait for."""
        self._publisher.start()
        while not self._publisher.done:
            self._ends.wait(_LOOK_S)

    def stop(self) -> tuple[ManifestEntry, ...]:
        """Publish no more, wait for the answers to what is out, and return that. Raises StackError."""
        self._ends.set()
        return self._publisher.result(_ENDING_S).entries


def fates_text(entries: tuple[ManifestEntry, ...]) -> str:
    """`540 as output, 6 as error event (malformed_json: 6), 54 filtered (canary: 54)`: how events have to end."""
    fates = Counter((entry.expected.fate, entry.expected.reason) for entry in entries)
    parts = []
    for fate, name in _ENDS.items():
        reasons = {reason: count for (of, reason), count in fates.items() if of == fate}
        why = ", ".join(f"{reason}: {count:,}" for reason, count in sorted(reasons.items(), key=str) if reason)
        if count := sum(reasons.values()):
            parts.append(f"{count:,} {'' if fate == 'filtered' else 'as '}{name}{f' ({why})' if why else ''}")
    return ", ".join(parts)


def _require_topics(bootstrap: str, topics: tuple[str, ...]) -> None:
    with closing(connect(bootstrap)) as consumer:
        for topic in topics:
            require_topic(consumer, topic)
