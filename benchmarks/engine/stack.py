"""The real parts of a race: a broker and the mock, each a process; the source is filled once, outputs are fresh.

All topics carry the broker's own time (LogAppendTime), by which everybody is measured.
"""

import asyncio
import itertools
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import requests
from kafka import KafkaProducer

from benchmarks.engine.topic_log import TopicLog
from benchmarks.engine.workload import DOMAIN, PARTITIONS, SEED, SourceEvent, Workload
from devkit.guardian import Guardian
from devkit.stack.parts.kafka import KafkaBroker
from devkit.stack.parts.local_kafka import start_kafka
from devkit.stack.parts.mock_api import MockApi, start_mock_api
from devkit.stack.parts.object_store import ObjectStore, start_object_store
from devkit.stack.stack import BUCKETS
from devkit.stack.topics import recreate_topics, remove_topics
from mockapi.rules.model import Rule
from pipeline.config.pipeline_config import MIB, ledger_topic_settings

_STAMPED = {"message.timestamp.type": "LogAppendTime", "max.message.bytes": str(4 * MIB)}
_WARM_AT_ONCE = 32
_ANSWER_S = 30
_NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class RunTopics:
    """Of one run. Only the engine has errors and deferred records, and of its jobs only rdf-resolve has `failures`."""

    source: str
    out: str
    errors: str
    failures: str
    deferred: str


@dataclass(frozen=True)
class BenchStack:
    """What all runs of a bench share. `store` is there where a bench wants it."""

    guardian: Guardian
    kafka: KafkaBroker
    mock: MockApi
    store: ObjectStore | None
    logs: Path
    broker_pid: int
    mock_pid: int

    def log(self, topic: str) -> TopicLog:
        (data,) = self.guardian.directory.glob("kafka-*/data")
        return TopicLog(data, topic)

    def set_pages(self, workload: Workload) -> None:
        """Tell the mock pages and rules, and have every page rendered once, so that no run pays for that."""
        self.mock.populate(seed=SEED, catalog=workload.catalog(), rules=workload.rules())
        asyncio.run(_warm(self.mock.endpoint, workload))

    def set_rules(self, rules: Iterable[Rule]) -> None:
        """Replace the mock's rules; what it has rendered stays."""
        dumped = [rule.model_dump(mode="json", exclude_unset=True, by_alias=True) for rule in rules]
        requests.put(f"{self.mock.endpoint}/__mock/rules", json=dumped, timeout=_ANSWER_S).raise_for_status()

    def fill(self, topic: str, events: Iterable[SourceEvent], *, per_second: float | None = None) -> None:
        """Write events into a topic that is there, as fast as it goes or at a pace, until all are acknowledged."""
        producer = KafkaProducer(
            bootstrap_servers=self.kafka.bootstrap, acks="all", linger_ms=0 if per_second else 50, batch_size=MIB
        )
        start = time.monotonic()
        try:
            for number, event in enumerate(events):
                if per_second and (early := start + number / per_second - time.monotonic()) > 0:
                    time.sleep(early)
                producer.send(topic, key=event.key, value=event.value, partition=event.partition)
            producer.flush(120)
        finally:
            producer.close()

    def make_source(self, topic: str) -> None:
        recreate_topics(self.kafka.bootstrap, {topic: (PARTITIONS, _STAMPED)})

    @contextmanager
    def topics(self, source: str, *, out_partitions: int = PARTITIONS) -> Iterator[RunTopics]:
        """Fresh ones around a source; what was written into them is gone afterwards."""
        name = f"run-{next(_NUMBERS)}"
        topics = RunTopics(source, f"{name}.out", f"{name}.errors", f"{name}.failures", f"{name}.deferred")
        recreate_topics(
            self.kafka.bootstrap,
            {
                topics.out: (out_partitions, _STAMPED),
                topics.errors: (1, _STAMPED),
                topics.failures: (1, _STAMPED),
                topics.deferred: (1, ledger_topic_settings(MIB)),
            },
        )
        try:
            yield topics
        finally:
            remove_topics(self.kafka.bootstrap, [topics.out, topics.errors, topics.failures, topics.deferred])


@contextmanager
def bench_stack(logs: Path, *, store: bool = False) -> Iterator[BenchStack]:
    """Broker and mock, and an object store where it is wanted."""
    with Guardian() as guardian:
        mock, mock_part = start_mock_api(guardian, logs)
        kafka, (kafka_part,) = start_kafka(guardian, logs)
        objects, store_part = start_object_store(guardian, logs, BUCKETS) if store else (None, None)
        for part in filter(None, (mock_part, kafka_part, store_part)):
            part.await_ready()
        yield BenchStack(
            guardian, kafka, mock, objects, logs, broker_pid=kafka_part.life.pid, mock_pid=mock_part.life.pid
        )


async def _warm(endpoint: str, workload: Workload) -> None:
    paths = [f"/w/rest.php/v1/revision/{revision}/html" for pair in workload.revisions for revision in pair]
    left = iter(paths)

    async def some(session: aiohttp.ClientSession) -> None:
        for path in left:
            async with session.get(path, headers={"Host": DOMAIN}) as response:
                response.raise_for_status()
                await response.read()

    async with aiohttp.ClientSession(endpoint, headers={"Accept-Encoding": workload.coding}) as session:
        await asyncio.gather(*(some(session) for _ in range(_WARM_AT_ONCE)))
