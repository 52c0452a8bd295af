"""A topic to which records go all the time, as to one in production."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Event, Thread

from kafka import KafkaProducer


@contextmanager
def flowing_records(bootstrap: str, topic: str, value: bytes, *, first: int, every_s: float) -> Iterator[None]:
    """`value` has a `%d` for the record's number; the numbers begin at `first`, and take turns in two partitions."""
    ended = Event()

    def publish() -> None:
        with closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
            number = first
            while not ended.wait(every_s):
                producer.send(topic, partition=number % 2, value=value % number)
                number += 1
            producer.flush()

    thread = Thread(target=publish)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
