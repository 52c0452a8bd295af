"""Workers, lanes and probes around an upstream of which some wikis are down: all but Spark and Kafka is real."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import orjson
import pyarrow as pa
import pytest
from aiohttp import web

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.entry import Entry, Fact
from pipeline.deferral.lanes import Lanes
from pipeline.deferral.rounds import entry_table
from pipeline.deferral.wire import NullRecord
from pipeline.fetch.breakers import reporting_breakers
from pipeline.records.record import Position, Record
from pipeline.worker import spark_task as task
from pipeline.worker.engine import LoopThread
from pipeline.worker.spark_task import enrich_around, process_deferred
from pipeline.worker.task_attempt import task_attempt
from tests.unit.pipeline.deferral.lanes_bench import until
from tests.unit.pipeline.deferral.memory_topic import MemoryTopic

MakeConfig = Callable[..., PipelineConfig]
MakeEvent = Callable[..., dict[str, Any]]
NOW_US = int(datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp() * 1_000_000)
BREAKER: dict[str, Any] = {"window": "47s", "minimum_requests": 10, "minimum_wikis": 5, "trial_requests": 2}
CONCURRENCY = 4
# Tasks have the time of day; to the driver all that they deferred is due.
LATER_MS = 4_000_000_000_000
# No request is late, however busy the machine is.
LONG = "5m"


class Told:
    """What tasks tell their driver."""

    def __init__(self) -> None:
        self.value: list[Any] = []

    def add(self, added: list[Any]) -> None:
        self.value += added


class Driver:
    """One worker, one driver, and an upstream that answers 503 for the hosts that are `down`."""

    def __init__(self, make_config: MakeConfig, loop: LoopThread, wikis: Sequence[str], **sections: Any) -> None:
        self.down: set[str] = set()
        self.asked: Counter[str] = Counter()
        self.emitted: list[Record] = []
        self._loop, self._batch, self._offset = loop, 0, 0
        self._runner = loop.call(self._serve)
        port = self._runner.addresses[0][1]
        self.config = make_config(
            mediawiki={"endpoint": f"http://127.0.0.1:{port}", "wikis": {wiki: f"{wiki}.example" for wiki in wikis}},
            fetch={"concurrency": CONCURRENCY, "total_requests": 1, "request_timeout": LONG, "deadline": LONG},
            deferral={"slow_lane": {"attempts": 2, "backoff": "0s"}, "inline_allowance": LONG},
            **{"breaker": BREAKER} | sections,
        )
        self.topic, self.now = MemoryTopic(limit_bytes=1_000_000), [100.0]
        self.lanes = Lanes(
            self.config,
            self.topic.as_topic(),
            self,
            replay=lambda: None,
            clock=lambda: self.now[0],
            now_ms=lambda: LATER_MS,
        )
        self.lanes.take_over()

    def close(self) -> None:
        self.lanes.stop()
        self._loop.call(self._runner.cleanup)

    def batch(self, events: Sequence[dict[str, Any]] = ()) -> None:
        """One micro-batch of new events, and what the ledger brings along."""
        self._batch += 1
        snapshot = self.lanes.plan(self._batch)
        rows = [*snapshot.reserved, *map(self._row, events)]
        opened: Any = Told()
        function = reporting_breakers(
            enrich_around(
                self.config,
                snapshot.fence,
                epoch=self.lanes.epoch,
                batch=self._batch,
                workers=1,
                limit_bytes=self.lanes.limit_bytes,
            ),
            self.config.breaker,
            opened,
            snapshot.unhealthy,
        )
        self._work(function, rows)
        self.lanes.written(snapshot, self._batch, {task_attempt()}, opened.value)

    def run(self, entries: Sequence[Entry], *, epoch: int) -> list[Fact]:
        """A slow round, for `Lanes`."""
        facts: Any = Told()
        self._work(process_deferred(self.config, entries, facts, epoch=epoch), entries)
        return list(facts.value)

    def drain(self) -> None:
        """Probe, and go on until nothing is deferred."""
        self.now[0] += 1000
        self.lanes.probe()
        for _ in range(10):
            self.batch()
            self.lanes.look()
            until(lambda: self.lanes.rounds == 0)
            self.lanes.check()
            if not self.entries:
                return

    @property
    def entries(self) -> dict[Position, Entry]:
        return self.topic.log.folded().entries

    def outputs(self) -> Counter[str]:
        """Number of emitted records by topic."""
        return Counter("error" if "error" in record.topic else "output" for record in self.emitted)

    def _row(self, event: dict[str, Any]) -> Entry:
        self._offset += 1
        position, key = Position("source", 0, self._offset), str(event["page"]["page_id"]).encode()
        return Entry(position, key, orjson.dumps(event), NOW_US, "waiting", 0, 0, "")

    def _work(self, function: Callable[[Any], Iterator[pa.RecordBatch]], rows: Sequence[Entry]) -> None:
        for batch in function(iter(entry_table(rows).to_batches())):
            for row in batch.to_pylist():
                headers = tuple((header["key"], header["value"]) for header in row["headers"])
                record = Record(row["topic"], row["key"], row["value"], headers)
                if record.topic == self.config.deferral.topic:
                    self.topic.log.append([record])
                else:
                    self.emitted.append(record)

    def send(
        self, topic: str, *, key: bytes, value: bytes | None, headers: Sequence[tuple[str, bytes]]
    ) -> SimpleNamespace:
        """As a slow round's producer."""
        if value is None:
            self.topic.log.append([NullRecord(topic, key, tuple(headers))])
        else:
            self.emitted.append(Record(topic, key, value, tuple(headers)))
        return SimpleNamespace(get=lambda: None, add_errback=lambda _: None)

    def flush(self) -> None:
        """As a slow round's producer."""

    async def _serve(self) -> web.AppRunner:
        async def answer(request: web.Request) -> web.Response:
            wiki = request.headers["Host"].removesuffix(".example")
            self.asked[wiki] += 1
            if wiki in self.down:
                return web.Response(status=503)
            headers = {"Content-Revision-Id": request.path.split("/")[-2]}
            return web.Response(text="<p>", content_type="text/html", headers=headers)

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner


@pytest.fixture
def driver(
    make_config: MakeConfig, loop_thread: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Driver]]:
    monkeypatch.setattr(task, "_loop_thread", lambda: loop_thread)
    make, jobs = task._job.__wrapped__, dict[tuple[str, str], Any]()

    def job(config_json: str, lane: str) -> Any:
        if (config_json, lane) not in jobs:
            jobs[config_json, lane] = make(config_json, lane)
        return jobs[config_json, lane]

    monkeypatch.setattr(task, "_job", job)
    drivers: list[Driver] = []

    def made(*wikis: str, **sections: Any) -> Driver:
        drivers.append(Driver(make_config, loop_thread, wikis, **sections))
        monkeypatch.setattr(task, "_producer", lambda *_: drivers[-1])
        return drivers[-1]

    yield made
    for one in jobs.values():
        loop_thread.call(one.close)
    for one in drivers:
        one.close()


def test_one_wiki_that_is_down_stops_no_other_and_costs_no_tries(
    driver: Callable[..., Driver], make_event: MakeEvent
) -> None:
    ours = driver("enwiki", "dewiki")
    ours.down = {"dewiki"}
    pages = iter(range(1, 1000))
    for _ in range(4):
        ours.batch([make_event("create", page_id=next(pages), wiki_id=w) for w in ("enwiki", "dewiki") * 20])
    assert ours.outputs() == {"output": 80}
    assert ours.asked["dewiki"] <= BREAKER["minimum_requests"] + CONCURRENCY
    assert len(ours.entries) == ours.lanes.deferred_unhealthy == 80
    assert {(one.attempt, one.wiki_id) for one in ours.entries.values()} == {(0, "dewiki")}
    ours.down = set()
    ours.drain()
    assert (ours.outputs(), ours.entries) == ({"output": 160}, {})


def test_many_small_wikis_that_are_down_are_an_outage_of_the_endpoint(
    driver: Callable[..., Driver], make_event: MakeEvent
) -> None:
    wikis = [f"w{number}wiki" for number in range(90)]
    ours = driver(*wikis, breaker=BREAKER | {"window": "48s"})
    ours.down = set(wikis)
    ours.batch([make_event("create", page_id=number, wiki_id=wiki) for number, wiki in enumerate(wikis * 2, start=1)])
    assert ours.lanes.breakers == {("endpoint", ""): 1}
    assert ours.asked.total() <= BREAKER["minimum_requests"] + CONCURRENCY
    assert len(ours.entries) == 180
    assert {one.attempt for one in ours.entries.values()} == {0}
    ours.lanes.look()
    assert ours.lanes.rounds == 0
    ours.down = set()
    ours.drain()
    assert (ours.outputs(), ours.entries) == ({"output": 180}, {})
