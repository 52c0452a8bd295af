"""html-enrichment by hand, for speed alone: consume, fetch two pages, diff, write; the ceiling for a general engine.

It has no schema, no retries, no deferral, no order, no limits and no checkpoint. Diff and output are those of the
pipeline, byte for byte. librdkafka's threads read and write beside the loop.
"""

import argparse
import asyncio
import gc
import hashlib
import uuid
from collections import deque

import orjson
import uvloop
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from fetching import make

from pipeline.records.diff import unified_diff_of_bytes

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:html-content-change").bytes
_AT_ONCE = 500
_IDLE_S = 0.002
_POLL_EVERY = 32


class Program:
    """One process: some of the partitions, so many events at once."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._out, self._in_flight = given.out, given.in_flight
        self._client = make(given.client, given.endpoint, at_once=2 * given.in_flight)
        self._consumer = Consumer(
            {
                "bootstrap.servers": given.bootstrap,
                "group.id": "bench",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 20,
                "fetch.message.max.bytes": 1024 * 1024,
                "queued.max.messages.kbytes": 16 * 1024,
            }
        )
        self._consumer.assign([TopicPartition(given.source, int(n), 0) for n in given.partitions.split(",")])
        self._producer = Producer(
            {
                "bootstrap.servers": given.bootstrap,
                "acks": "all",
                "enable.idempotence": True,
                "linger.ms": 200,
                "batch.size": 1024 * 1024,
                "message.max.bytes": 4 * 1024 * 1024,
                "queue.buffering.max.kbytes": 256 * 1024,
                "partitioner": "murmur2_random",
                "delivery.report.only.error": True,
            }
        )
        self._messages: deque = deque()
        self._produced = 0

    async def run(self) -> None:
        await self._client.open()
        await asyncio.gather(*(self._work() for _ in range(self._in_flight)))

    async def _work(self) -> None:
        messages, client = self._messages, self._client
        while True:
            while not messages:
                if not self._refill():
                    await asyncio.sleep(_IDLE_S)
            message = messages.popleft()
            event = orjson.loads(message.value())
            if event["meta"]["domain"] == "canary" or event["page_change_kind"] not in ("edit", "move"):
                continue
            revision, event_id = event["revision"], event["meta"]["id"]
            latest_id, parent_id = revision["rev_id"], revision["rev_parent_id"]
            latest_answer = client.fetch(f"/w/rest.php/v1/revision/{latest_id}/html", f"{event_id}:latest")
            parent_answer = client.fetch(f"/w/rest.php/v1/revision/{parent_id}/html", f"{event_id}:parent")
            latest, parent = await latest_answer, await parent_answer
            names = {"before_name": f"revision/{parent_id}", "after_name": f"revision/{latest_id}"}
            diff = unified_diff_of_bytes(parent, latest, **names)
            self._produce(message.key(), self._value(event, latest.decode(), parent_id, diff.decode()))

    def _refill(self) -> int:
        found = self._consumer.consume(_AT_ONCE, 0)
        for message in found:
            if message.error() is None:
                self._messages.append(message)
            elif message.error().code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - its name for it
                raise RuntimeError(message.error())
        return len(found)

    def _value(self, event: dict, html: str, parent_id: int, diff: str) -> bytes:
        meta = event["meta"]
        meta["stream"] = self._out
        meta["id"] = _uuid5(meta["id"])
        event["$schema"] = "/enrichment/page_html_content_change/1.0.0"
        event["revision"]["content_slots"]["main"]["content_body"] = html
        event["html_diff"] = {"base_rev_id": parent_id, "format": "unified", "body": diff}
        return orjson.dumps(event)

    def _produce(self, key: bytes, value: bytes) -> None:
        while True:
            try:
                self._producer.produce(self._out, value, key)
                break
            except BufferError:
                self._producer.poll(0.01)
        self._produced += 1
        if self._produced % _POLL_EVERY == 0:
            self._producer.poll(0)


def _uuid5(name: str) -> str:
    digest = bytearray(hashlib.sha1(_NAMESPACE + name.encode(), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("bootstrap", "source", "out", "endpoint", "partitions", "client"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--in-flight", type=int, required=True)

    async def run() -> None:
        program = Program(parser.parse_args())
        gc.freeze()
        gc.disable()  # nothing here is part of a cycle
        await program.run()

    uvloop.run(run())


if __name__ == "__main__":
    main()
