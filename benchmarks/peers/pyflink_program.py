"""html-enrichment on PyFlink, to hold the engine against; runs in the peer's own environment until it is ended.

    Kafka ─▶ parse, filter ─▶ two fetches ─▶ diff, JSON ─▶ Kafka

Two settings. `async`: `AsyncDataStream.unordered_wait`, the best that PyFlink offers. `sync`: a map that waits for each
fetch, one event a bundle, sixteen of them side by side, which is what production ran when the backlog did not shrink.

It does less than the engine: no retries, no order of a page, no claim check, no error topic, and no headers, since its
Kafka connector hands values alone to Python; a fetch that fails ends the job. What it does do is the project's own
code, so that diff and bytes are the same.
"""

import argparse
import asyncio
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# After the peer's own packages: the project's must not stand in their place.
sys.path.append(str(REPOSITORY))

import aiohttp  # noqa: E402
import orjson  # noqa: E402
import requests  # noqa: E402
import uvloop  # noqa: E402
from isal import isal_zlib  # noqa: E402
from pyflink.common import Configuration, Row, Time, Types, WatermarkStrategy  # noqa: E402
from pyflink.common.serialization import ByteArraySchema, RowFieldExtractorSchema  # noqa: E402
from pyflink.datastream import (  # noqa: E402
    AsyncDataStream,
    AsyncFunction,
    DataStream,
    FlatMapFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from pyflink.datastream.connectors.base import DeliveryGuarantee  # noqa: E402
from pyflink.datastream.connectors.kafka import (  # noqa: E402
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)

from pipeline.records.diff import unified_diff_of_bytes  # noqa: E402
from pipeline.records.output import HtmlContent, html_value  # noqa: E402
from pipeline.records.page_change import PageChange, parse  # noqa: E402

BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
RECORD = Types.ROW_NAMED(["key", "value"], [BYTES, BYTES])
# Longer than the slowest page of any benchmark.
FETCH_TIMEOUT_S = 120
# Parallelism, and events a bundle: Flink's default, and the incident's setting.
_USUAL = {"async": (2, 100_000), "sync": (16, 1)}


@dataclass(frozen=True)
class Settings:
    """What the command line says."""

    mode: str
    bootstrap: str
    source: str
    output: str
    endpoint: str
    host: str
    connector: str
    checkpoints: str
    parallelism: int
    capacity: int
    timeout_s: int
    bundle_size: int
    bundle_time_ms: int
    workers: str
    linger_ms: int
    plain: bool


def main() -> None:
    settings = _settings()
    # The JVM ends with this process: it sees its standard input close.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    environment = _environment(settings)
    events = environment.from_source(_source(settings), WatermarkStrategy.no_watermarks(), "page changes")
    enriched = _enriched_async(events, settings) if settings.mode == "async" else _enriched_sync(events, settings)
    enriched.sink_to(_sink(settings))
    environment.execute(f"html-enrichment {settings.mode}")


def _environment(settings: Settings) -> StreamExecutionEnvironment:
    # In a local job Flink runs the Python workers as threads of this process, one interpreter lock for all, unless:
    mode = "process" if settings.workers == "process" else "loopback"
    os.environ["_python_worker_execution_mode"] = mode  # noqa: SIM112 - Flink's name for it
    configuration = Configuration()
    for name, value in {
        "pipeline.jars": Path(settings.connector).as_uri(),
        "pipeline.object-reuse": "true",
        "python.executable": sys.executable,
        "python.client.executable": sys.executable,
        "python.pythonpath": str(REPOSITORY),
        "python.fn-execution.bundle.size": str(settings.bundle_size),
        "python.fn-execution.bundle.time": str(settings.bundle_time_ms),
        "execution.checkpointing.interval": "10 s",
        "execution.checkpointing.storage": "filesystem",
        "execution.checkpointing.dir": Path(settings.checkpoints).as_uri(),
        "taskmanager.numberOfTaskSlots": str(settings.parallelism),
    }.items():
        configuration.set_string(name, value)
    environment = StreamExecutionEnvironment.get_execution_environment(configuration)
    environment.set_parallelism(settings.parallelism)
    return environment


def _source(settings: Settings) -> KafkaSource:
    return (
        KafkaSource.builder()
        .set_bootstrap_servers(settings.bootstrap)
        .set_topics(settings.source)
        .set_group_id(f"pyflink-{settings.output}")
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(ByteArraySchema())
        .build()
    )


def _sink(settings: Settings) -> KafkaSink:
    record = KafkaRecordSerializationSchema.builder().set_topic(settings.output)
    record = record.set_key_serialization_schema(RowFieldExtractorSchema(0))
    record = record.set_value_serialization_schema(RowFieldExtractorSchema(1))
    return (
        KafkaSink.builder()
        .set_bootstrap_servers(settings.bootstrap)
        .set_record_serializer(record.build())
        .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .set_property("linger.ms", str(settings.linger_ms))
        .set_property("batch.size", str(1024 * 1024))
        .build()
    )


def _enriched_async(events: DataStream, settings: Settings) -> DataStream:
    function = FetchAsync(settings)
    return AsyncDataStream.unordered_wait(
        events, function, Time.seconds(settings.timeout_s), settings.capacity, output_type=RECORD
    )


def _enriched_sync(events: DataStream, settings: Settings) -> DataStream:
    # Else four partitions would keep four of the sixteen busy.
    return events.rebalance().flat_map(FetchSync(settings), output_type=RECORD)


class FetchAsync(AsyncFunction):
    """Both revisions of an event at once, many events side by side; see the module."""

    def __init__(self, settings: Settings) -> None:
        self._endpoint, self._host, self._stream = settings.endpoint, settings.host, settings.output
        self._capacity, self._plain = settings.capacity, settings.plain
        self._session: aiohttp.ClientSession | None = None

    def open(self, runtime_context: RuntimeContext) -> None:  # noqa: ARG002 - Flink's signature
        if self._plain:
            return
        # Flink makes its loop next, by what is set here.
        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
        aiohttp.set_zlib_backend(isal_zlib)

    async def async_invoke(self, value: bytes) -> list[Row]:
        event = parse(value, "")
        if not wanted(event):
            return []
        if not has_content(event):
            return [record(event, None, stream=self._stream)]
        if (parent_id := parent_of(event)) is None:
            latest = await self._html(event, event.rev_id, "latest")
            content = HtmlContent(latest.decode())
            return [record(event, content, stream=self._stream)]
        latest, parent = await asyncio.gather(
            self._html(event, event.rev_id, "latest"), self._html(event, parent_id, "parent")
        )
        return [record(event, compared(event, latest, parent_id, parent), stream=self._stream)]

    def timeout(self, value: bytes) -> list[Row]:
        raise TimeoutError(f"no result in time for {value[:100]!r}")

    async def _html(self, event: PageChange, rev_id: int, role: str) -> bytes:
        if self._session is None:
            # Made here because this runs in Flink's loop, and `open` does not.
            self._session = aiohttp.ClientSession(
                base_url=self._endpoint,
                connector=aiohttp.TCPConnector(limit=2 * self._capacity, keepalive_timeout=60),
                timeout=aiohttp.ClientTimeout(total=FETCH_TIMEOUT_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                raise_for_status=True,
            )
        headers = headers_of(event, role, self._host)
        async with self._session.get(path_of(rev_id), headers=headers) as response:
            return await response.read()


class FetchSync(FlatMapFunction):
    """One revision after the other, as the synchronous job did; see the module."""

    def __init__(self, settings: Settings) -> None:
        self._endpoint, self._host, self._stream = settings.endpoint, settings.host, settings.output

    def open(self, runtime_context: RuntimeContext) -> None:  # noqa: ARG002 - Flink's signature
        self._session = requests.Session()
        self._session.trust_env = False

    def flat_map(self, value: bytes) -> list[Row]:
        event = parse(value, "")
        if not wanted(event):
            return []
        if not has_content(event):
            return [record(event, None, stream=self._stream)]
        latest = self._html(event, event.rev_id, "latest")
        if (parent_id := parent_of(event)) is None:
            return [record(event, HtmlContent(latest.decode()), stream=self._stream)]
        parent = self._html(event, parent_id, "parent")
        return [record(event, compared(event, latest, parent_id, parent), stream=self._stream)]

    def _html(self, event: PageChange, rev_id: int, role: str) -> bytes:
        answer = self._session.get(
            self._endpoint + path_of(rev_id), headers=headers_of(event, role, self._host), timeout=FETCH_TIMEOUT_S
        )
        answer.raise_for_status()
        return answer.content


def wanted(event: PageChange) -> bool:
    """Whether html-enrichment takes the event: wikitext, no canary."""
    if event.domain == "canary":
        return False
    if event.content_model is None:
        return event.kind == "delete" or not event.content_visible
    return event.content_model == "wikitext"


def has_content(event: PageChange) -> bool:
    """Whether there is something to fetch."""
    return event.kind != "delete" and event.content_visible


def parent_of(event: PageChange) -> int | None:
    """The revision to compare with."""
    return event.parent_id if event.kind in ("edit", "move") else None


def path_of(rev_id: int) -> str:
    return f"/w/rest.php/v1/revision/{rev_id}/html"


def headers_of(event: PageChange, role: str, host: str) -> dict[str, str]:
    return {
        "Host": host,
        "X-Request-Id": event.request_id(role),
        "User-Agent": "enrichment-peer/0.1 (pyflink)",
        "Accept-Encoding": "gzip",
    }


def compared(event: PageChange, latest: bytes, parent_id: int, parent: bytes) -> HtmlContent:
    """The latest HTML and the diff, as html-enrichment has them."""
    names = {"before_name": f"revision/{parent_id}", "after_name": f"revision/{event.rev_id}"}
    return HtmlContent(latest.decode(), parent_id, unified_diff_of_bytes(parent, latest, **names).decode())


def record(event: PageChange, content: HtmlContent | None, *, stream: str) -> Row:
    """Key and value. The key is that of the source, which the connector does not hand over."""
    key = orjson.dumps({"wiki_id": event.wiki_id, "page_id": event.page_id})
    return Row(key, html_value(event, content, stream=stream))


def _settings() -> Settings:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    needed: list[tuple[str, str]] = [
        ("bootstrap", "Kafka's address"),
        ("source", "topic to read, from its beginning"),
        ("output", "topic to write"),
        ("endpoint", "the wiki's address, http://…"),
        ("connector", "the jar flink-sql-connector-kafka"),
        ("checkpoints", "an empty directory"),
    ]
    for name, what in needed:
        parser.add_argument(f"--{name}", required=True, help=what)
    parser.add_argument("--host", default="en.wikipedia.org", help="the wiki's name")
    parser.add_argument("--mode", choices=("async", "sync"), default="async")
    numbers: list[tuple[str, int | None, str]] = [
        ("parallelism", None, "subtasks: 2 for async, 16 for sync"),
        ("capacity", 128, "events in flight in a subtask"),
        ("timeout-s", 0, "Flink's own limit for an event; 0 for none, as each costs a thread"),
        ("bundle-size", None, "events a bundle: Flink's default for async, 1 for sync"),
        ("bundle-time-ms", 1000, "longest bundle"),
        ("linger-ms", 5, "the producer's"),
    ]
    for name, default, what in numbers:
        parser.add_argument(f"--{name}", type=int, default=default, help=what)
    parser.add_argument(
        "--workers", choices=("process", "thread"), default="process", help="a Python process a subtask, or a thread"
    )
    parser.add_argument("--plain", action="store_true", help="async: asyncio's own loop and zlib, no uvloop, no igzip")
    given = vars(parser.parse_args())
    parallelism, bundle_size = _USUAL[given["mode"]]
    given["parallelism"] = given["parallelism"] or parallelism
    given["bundle_size"] = given["bundle_size"] or bundle_size
    return Settings(**given)


if __name__ == "__main__":
    main()
