"""The end of a transaction, with the moment from which everybody sees it."""

from contextlib import closing
from datetime import timedelta

from kafka import KafkaProducer

from devkit.stack.topic_reader import connect, ends_of, places_of
from devkit.waiting import wait_until

_DEADLINE = timedelta(seconds=30)


def commit(producer: KafkaProducer, bootstrap: str, topic: str) -> None:
    """Everything that it sent is in the topic, to be read by those who read what is committed."""
    producer.commit_transaction()
    await_markers(bootstrap, topic)


def abort(producer: KafkaProducer, bootstrap: str, topic: str) -> None:
    """Everything that it sent is in the topic, for nobody who reads what is committed."""
    producer.abort_transaction()
    await_markers(bootstrap, topic)


def await_markers(bootstrap: str, topic: str) -> None:
    """Until no transaction is open in the topic. A producer is told that its transaction ended as soon as the broker
    has noted that; the markers, each of which takes an offset of its partition, are written after that.
    """
    with closing(connect(bootstrap)) as ours, closing(connect(bootstrap, isolation_level="read_committed")) as others:
        places = places_of(ours, topic)
        wait_until(
            lambda: ends_of(others, places) == ends_of(ours, places),
            what=f"{topic} to be without an open transaction",
            deadline=_DEADLINE,
        )
