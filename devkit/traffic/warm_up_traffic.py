"""A few edits that warm a program up before its traffic: a page each, none of them the traffic's, one to a partition.

A plain edit is fetched with its parent, so a program that processes it has loaded everything that later ones need.
"""

from collections.abc import Callable
from datetime import timedelta

from kafka.errors import KafkaError

from devkit.errors import StackError
from devkit.traffic.generate import generate
from devkit.traffic.publish import Producer
from devkit.traffic.records import Traffic
from devkit.traffic.stream import NamedPage, Stream

_TIMEOUT_S = 60


def warm_up_traffic(spec: Stream, traffic: Traffic, partitions: int) -> Traffic:
    """An edit for each partition, besides the `traffic` of `spec`: no page id of it is used again."""
    pages = {f"Warm-up {number}": NamedPage() for number in range(partitions)}
    # So short that no event is drawn: those of the pages are all.
    short: dict[str, object] = {"rate": 1.0, "for_": timedelta(milliseconds=1), "population": 1, "pages": pages}
    short |= {"phases": (), "canaries": None, "patch": (), "repeats": None, "pauses": ()}
    return generate(spec.model_copy(update=short), traffic.pages)


def publish_warm_up(traffic: Traffic, topic: str, connect: Callable[[], Producer]) -> dict[int, int]:
    """Publishes the warm-up; returns the offset in each partition. Raises StackError."""
    try:
        producer = connect()
        try:
            partitions = sorted(producer.partitions_for(topic))
            sent = [
                producer.send(topic, key=record.key, value=record.value, partition=partition, timestamp_ms=None)
                for record, partition in zip(traffic.records, partitions, strict=True)
            ]
            landed = [future.get(timeout=_TIMEOUT_S) for future in sent]
        finally:
            producer.close(timeout=5)
    except KafkaError as error:
        raise StackError(
            f"publishing the warm-up to {topic} failed: {error}", hint="look at the broker's log"
        ) from error
    return {metadata.partition: metadata.offset for metadata in landed}
