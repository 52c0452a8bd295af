"""A pipeline of somebody's own: fetches each event's page and passes the event on. It knows nothing of the kit's code.

`--crash-after N` ends it after so many events, once it has written them; `--no-headers` leaves the source out.
"""

import json
import os
import sys
import urllib.error
import urllib.request

from kafka import KafkaConsumer, KafkaProducer
from kafka.structs import OffsetAndMetadata, TopicPartition


def env(name: str) -> str:
    return os.environ[f"DEVKIT_{name}"]


def main() -> None:
    crash_after = int(sys.argv[sys.argv.index("--crash-after") + 1]) if "--crash-after" in sys.argv else None
    consumer = KafkaConsumer(
        env("SOURCE_TOPIC"),
        bootstrap_servers=env("KAFKA_BOOTSTRAP"),
        group_id=env("CHECKPOINT"),  # of this arm of this run: an earlier run's member may not have left its group yet
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=6000,  # after a crash, for the lost member
        heartbeat_interval_ms=2000,
    )
    producer = KafkaProducer(bootstrap_servers=env("KAFKA_BOOTSTRAP"), acks="all", max_request_size=32 << 20)
    for done, record in enumerate(consumer, 1):
        topic, value = enriched(record.value)
        if topic is not None:
            source = (record.topic, record.partition, record.offset)
            names = () if "--no-headers" in sys.argv else ("source-topic", "source-partition", "source-offset")
            headers = [(name, str(part).encode()) for name, part in zip(names, source, strict=False)]
            producer.send(env(topic), key=record.key, value=value, headers=headers).get(30)
        consumer.commit({TopicPartition(record.topic, record.partition): OffsetAndMetadata(record.offset + 1, "", -1)})
        if crash_after is not None and done >= crash_after and env("START") == "new":
            sys.exit("crashed, as it was told to")


def enriched(value: bytes) -> tuple[str | None, bytes]:
    """Where the event goes, and as what; nowhere when it is filtered."""
    try:
        event = json.loads(value)
        revision, domain = event["revision"]["rev_id"], event["meta"]["domain"]
    except (ValueError, KeyError, TypeError):
        return "ERROR_TOPIC", json.dumps({"error_type": "malformed_json"}).encode()
    if domain == "canary" or event.get("page_change_kind") == "delete":
        return ("OUTPUT_TOPIC", value) if domain != "canary" else (None, b"")
    request = urllib.request.Request(f"{env('MOCK_ENDPOINT')}/w/rest.php/v1/revision/{revision}/html")
    request.add_header("Host", domain)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            event["html_bytes"] = len(answer.read())
    except urllib.error.HTTPError as error:
        return "ERROR_TOPIC", json.dumps({"error_type": f"http_{error.code}"}).encode()
    return "OUTPUT_TOPIC", json.dumps(event).encode()


if __name__ == "__main__":
    main()
