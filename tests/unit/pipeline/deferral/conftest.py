import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pipeline import log
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.entry import Entry
from pipeline.deferral.lanes import Lanes
from pipeline.events import fields_of
from pipeline.fetch.breaker import Answer
from pipeline.fetch.route import Ask
from pipeline.fetch.wiki_hosts import WikiHosts
from pipeline.records.record import SourcePartition
from tests.unit.pipeline.deferral.lanes_bench import HANG_S, NOW_MS, Driver, MakeDriver, Rounds
from tests.unit.pipeline.deferral.memory_topic import Log, MemoryTopic


@pytest.fixture
def driver(make_config: Callable[..., PipelineConfig], monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeDriver]:
    drivers: list[Driver] = []

    def make(*entries: Entry, log_of: Log | None = None, replay_from: int | None = None, **deferral: Any) -> Driver:
        topic = MemoryTopic(log_of or Log())
        topic.log.put(*entries, epoch=0)
        rounds, now = Rounds(topic.log), [100.0]
        config = make_config(batch={"max_offsets": 100}, deferral=deferral)
        answers: list[Answer | None] = []
        asked: list[tuple[str, str]] = []

        def probe(
            _config: PipelineConfig, _hosts: WikiHosts, wiki_id: str, ask: Ask, _stopped: Callable[[], bool]
        ) -> Answer | None:
            asked.append((wiki_id, ask.path))
            return answers.pop(0)

        lanes = Lanes(
            config,
            topic.as_topic(),
            rounds,
            replay=lambda: None if replay_from is None else {SourcePartition("source", 0): replay_from},
            clock=lambda: now[0],
            now_ms=lambda: NOW_MS,
            probe=probe,
        )
        lines: list[dict[str, Any]] = []
        monkeypatch.setattr(log, "emit", lambda event: lines.append({"event": event.event} | fields_of(event)))
        lanes.take_over()
        drivers.append(Driver(lanes, topic, rounds, lines, now, answers, asked))
        return drivers[-1]

    before = set(threading.enumerate())
    yield make
    for made in drivers:
        made.lanes.stop()
        made.rounds.go.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(HANG_S)
        assert not thread.is_alive()
