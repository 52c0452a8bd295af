"""The ledger's topic on a real broker: how it is made, what is refused, and that nobody waits for ever."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest
from kafka import KafkaAdminClient

from devkit.guardian import Guardian
from devkit.stack.parts.part import Part
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics
from pipeline.config.pipeline_config import ledger_topic_settings
from pipeline.deferral.ledger_log import LedgerLog
from pipeline.deferral.ledger_start import LedgerStart, ledger_start
from pipeline.deferral.topic import LedgerTopic
from pipeline.deferral.wire import tombstone
from pipeline.errors import PipelineError, RefusedError
from pipeline.records.record import Record
from tests.integration.crash.bench import DEADLINE
from tests.unit.pipeline.deferral.making import entry

ROOMS = ("pipeline/deferral",)
MIB = 1024 * 1024
Topic = Callable[[str], LedgerTopic]


@pytest.fixture
def topic(stack: tuple[Guardian, Stack]) -> Iterator[Topic]:
    """A driver's end of a topic, closed with the test."""
    made: list[LedgerTopic] = []

    def make(name: str) -> LedgerTopic:
        made.append(LedgerTopic(stack[1].kafka.bootstrap, name, 2 * MIB))
        return made[-1]

    yield make
    for one in made:
        if hasattr(one, "_consumer"):
            one.close()


def test_a_driver_makes_the_topic_and_the_next_takes_it_over(topic: Topic) -> None:
    first, second = LedgerLog(topic("made-by-driver")), LedgerLog(topic("made-by-driver"))
    assert first.begin().entries == {}
    # More than is on its way at once.
    first.put([entry(1, value=b"v" * MIB), *(entry(offset, value=b"v" * (2 * MIB - 1000)) for offset in range(2, 7))])
    first.resolve(entry(offset).position for offset in range(2, 7))
    folded = second.begin()
    assert (second.epoch, second.limit_bytes) == (2, 2 * MIB)
    assert list(folded.entries.values()) == [entry(1, value=b"v" * MIB)]
    with pytest.raises(PipelineError, match="epoch 2 has started"):
        first.read()


def test_the_topics_own_limit_is_known(stack: tuple[Guardian, Stack], topic: Topic) -> None:
    """An entry that producer and topic see differently would end the job again and again."""
    settings = ledger_topic_settings(100_000)
    recreate_topics(stack[1].kafka.bootstrap, {"small-records": (2, settings)})
    ledger_log = LedgerLog(topic("small-records"))
    ledger_log.begin()
    assert ledger_log.limit_bytes == 100_000
    ledger_log.put([entry(1, value=b"v" * 200_000)])
    (put,) = LedgerLog(topic("small-records")).begin().entries.values()
    assert (put.dropped, put.value) == (True, None)


def test_a_topic_that_forgets_is_refused(stack: tuple[Guardian, Stack], topic: Topic) -> None:
    recreate_topics(stack[1].kafka.bootstrap, {"forgetful": (1, {"cleanup.policy": "delete"})})
    with pytest.raises(RefusedError, match=r"cleanup\.policy 'delete'"):
        topic("forgetful").open(LedgerStart())


def test_a_topic_that_is_being_deleted_is_made_again(stack: tuple[Guardian, Stack], topic: Topic) -> None:
    first = LedgerLog(topic("deleted"))
    first.begin()
    first.put([entry(1)])
    with closing(KafkaAdminClient(bootstrap_servers=stack[1].kafka.bootstrap)) as admin:
        admin.delete_topics(["deleted"])
    second = LedgerLog(topic("deleted"))
    with pytest.raises(RefusedError, match=r"is not there|is not the one of this checkpoint"):
        second.begin(ledger_start(new=False, known=first.mark, wish=None))
    assert second.begin().entries == {}
    assert second.epoch == 1
    assert second.mark.id != first.mark.id


def test_a_topic_that_was_made_again_is_not_taken_for_the_same(stack: tuple[Guardian, Stack], topic: Topic) -> None:
    reader = topic("made-again")
    reader.open(LedgerStart())
    reader.write([Record("made-again", b"a/0/0000000000000000001", b"v", ())] * 3)
    assert len(list(reader.read())) == 3
    recreate_topics(stack[1].kafka.bootstrap, {"made-again": (1, {"cleanup.policy": "compact"})})
    with pytest.raises(PipelineError, match="made-again"):
        list(reader.read())


def test_looking_makes_no_topic(topic: Topic) -> None:
    with pytest.raises(PipelineError, match="is not there"):
        topic("never-made").open()


@contextmanager
def stopped(broker: Part) -> Iterator[None]:
    broker.pull("pause")
    try:
        yield
    finally:
        broker.pull("resume")


@pytest.mark.slow
def test_a_broker_that_does_not_answer_is_an_error_in_the_end(stack: tuple[Guardian, Stack], topic: Topic) -> None:
    """Reads, writes and the opening: each gives up by itself."""
    broker = stack[1].part("kafka")
    reading, writing, opening = (topic("silent") for _ in range(3))
    reading.open(LedgerStart())
    writing.open(LedgerStart())
    attempts: list[Callable[[], object]] = [
        lambda: list(reading.read()),
        lambda: writing.write([tombstone(entry(1).position, topic="silent", epoch=1)]),
        lambda: opening.open(LedgerStart()),
    ]
    with ThreadPoolExecutor() as threads, stopped(broker):
        running = [threads.submit(failure, attempt) for attempt in attempts]
        failures = [one.result(DEADLINE.total_seconds()) for one in running]
    assert all("ledger topic silent" in str(one) for one in failures)


def failure(attempt: Callable[[], object]) -> PipelineError:
    with pytest.raises(PipelineError) as caught:
        attempt()
    return caught.value
