"""A template: reads page change events, fetches each revision's HTML, and publishes the event with the HTML's length.

It needs `pip install kafka-python`, and nothing of the kit. Replace `enriched` by what your program does.
"""

import json
import os
import urllib.error
import urllib.request

from kafka import KafkaConsumer, KafkaProducer
from kafka.structs import OffsetAndMetadata, TopicPartition


def env(name: str) -> str:
    """A variable that the kit sets."""
    return os.environ[f"DEVKIT_{name}"]


def main() -> None:
    """Process events until the kit ends the process."""
    consumer = KafkaConsumer(
        env("SOURCE_TOPIC"),
        bootstrap_servers=env("KAFKA_BOOTSTRAP"),
        group_id=f"my-pipeline-{env('ARM')}",  # the source topic is emptied for each arm, a group keeps its offsets
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    producer = KafkaProducer(bootstrap_servers=env("KAFKA_BOOTSTRAP"), acks="all", max_request_size=32 << 20)
    for record in consumer:
        topic, value = enriched(record.value)
        if topic is not None:
            source = {"topic": record.topic, "partition": record.partition, "offset": record.offset}
            headers = [(f"source-{name}", str(part).encode()) for name, part in source.items()]
            producer.send(env(topic), key=record.key, value=value, headers=headers).get(30)
        # Committed after it was written: what a crash comes between is written again, and nothing is lost.
        consumer.commit({TopicPartition(record.topic, record.partition): OffsetAndMetadata(record.offset + 1, "", -1)})


def enriched(value: bytes) -> tuple[str | None, bytes]:
    """The topic by its variable, and the record's value; None for an event that leaves no record."""
    try:
        event = json.loads(value)
        revision, domain = event["revision"]["rev_id"], event["meta"]["domain"]
    except (ValueError, KeyError, TypeError):
        return "ERROR_TOPIC", json.dumps({"error_type": "malformed_json"}).encode()
    if domain == "canary":
        return None, b""
    if event.get("page_change_kind") == "delete":
        return "OUTPUT_TOPIC", value
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
