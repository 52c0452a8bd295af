"""Publishes page changes with the length of their HTML; needs only kafka-python. Put your own work into `enriched`."""

import json
import urllib.error
import urllib.request
from os import environ

from kafka import KafkaConsumer, KafkaProducer


def main() -> None:
    """Process events until the kit ends the process."""
    kafka = {"bootstrap_servers": environ["DEVKIT_KAFKA_BOOTSTRAP"]}
    group = {"group_id": f"mine-{environ['DEVKIT_ARM']}", "auto_offset_reset": "earliest", "enable_auto_commit": False}
    wait = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 2000}  # after a crash, for the lost member
    producer = KafkaProducer(**kafka, acks="all", max_request_size=32 << 20)
    consumer = KafkaConsumer(environ["DEVKIT_SOURCE_TOPIC"], **kafka, **group, **wait)
    print(json.dumps({"event": "committed_offsets", "group": group["group_id"]}), flush=True)  # so losses are counted
    for record in consumer:
        topic, value = enriched(record.value)
        if topic is not None:
            source = {"topic": record.topic, "partition": record.partition, "offset": record.offset}
            headers = [(f"source-{name}", str(part).encode()) for name, part in source.items()]
            producer.send(environ[topic], key=record.key, value=value, headers=headers).get(30)
        consumer.commit()  # after it is published: a crash in between repeats the record, and loses none


def enriched(value: bytes) -> tuple[str | None, bytes]:
    """The variable that names the topic, None for an event that leaves no record; and the record's value."""
    try:
        event = json.loads(value)
    except ValueError:
        return "DEVKIT_ERROR_TOPIC", b'{"error_type": "malformed_json"}'
    match event:  # only what is read here; your program would validate all of it by the schema
        case {
            "meta": {"domain": str(domain)},
            "page": {"page_id": int()},
            "revision": {"rev_id": int(rev_id)} as revision,
            "wiki_id": str(),
            "dt": str(time),
            "changelog_kind": "insert" | "update" | "delete",
            "page_change_kind": str(kind),
        } if time[:4].isdigit():
            hidden = kind == "delete" or revision.get("is_content_visible") is False
        case _:
            return "DEVKIT_ERROR_TOPIC", b'{"error_type": "schema_violation"}'
    model = revision.get("content_slots", {}).get("main", {}).get("content_model", "wikitext" if hidden else None)
    if domain == "canary" or (model != "wikitext" and kind != "delete"):
        return None, b""
    if hidden:
        return "DEVKIT_OUTPUT_TOPIC", value
    url = f"{environ['DEVKIT_MOCK_ENDPOINT']}/w/rest.php/v1/revision/{rev_id}/html"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Host": domain}), timeout=60) as answer:
            return "DEVKIT_OUTPUT_TOPIC", json.dumps(event | {"html_bytes": len(answer.read())}).encode()
    except urllib.error.HTTPError as refused:
        return "DEVKIT_ERROR_TOPIC", json.dumps({"error_type": f"http_{refused.code}"}).encode()


if __name__ == "__main__":
    main()
