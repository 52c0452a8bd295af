"""Traffic that is stamped when it is sent, and what a program is warmed up with."""

from datetime import UTC, datetime, timedelta

import orjson
import pytest
from kafka.errors import KafkaTimeoutError

from devkit.errors import StackError
from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from devkit.traffic.publish import Producer
from devkit.traffic.received import as_generated, received_now
from devkit.traffic.records import SourceRecord, Traffic
from devkit.traffic.warm_up_traffic import publish_warm_up, warm_up_traffic
from pipeline.jobs.page_change_job import within_not_found_grace
from pipeline.records.page_change import parse
from tests.unit.devkit.traffic.test_publish import FakeProducer, Time

SPEC = TrafficSpec.model_validate(
    {"seed": 7, "rate": "20/s", "for": "2s", "pages": {"Huge": {"edits": 2, "error": "timeout"}}}
)
NOW = datetime(2031, 5, 6, 7, 8, 9, 123_000, tzinfo=UTC)


@pytest.fixture
def traffic() -> Traffic:
    return generate(SPEC)


def test_is_an_edit_for_each_partition_that_is_fetched_with_its_parent(traffic: Traffic) -> None:
    warm = warm_up_traffic(SPEC, traffic, 3)
    assert len(warm.records) == 3
    assert len({record.key for record in warm.records}) == 3
    for record in warm.records:
        expected = record.expected
        assert (expected.fate, orjson.loads(record.value)["page_change_kind"]) == ("output", "edit")
        assert expected.latest_revision is not None
        assert expected.parent_revision is not None


def test_no_page_of_the_traffic_is_in_it(traffic: Traffic) -> None:
    warm = warm_up_traffic(SPEC, traffic, 2)
    theirs = {page.page_id for page in traffic.pages}
    assert theirs.isdisjoint(page.page_id for page in warm.pages)
    known = {revision.rev_id for page in warm.pages for revision in page.revisions}
    for record in warm.records:
        assert {record.expected.latest_revision, record.expected.parent_revision} <= known


def test_each_lands_in_a_partition_of_its_own(traffic: Traffic) -> None:
    warm, producer = warm_up_traffic(SPEC, traffic, 3), FakeProducer(Time())
    assert publish_warm_up(warm, "source", lambda: producer) == {0: 0, 1: 0, 2: 0}
    assert [(topic, partition) for _, topic, _, _, partition in producer.sent] == [("source", n) for n in range(3)]
    assert producer.is_closed


def test_a_broker_that_does_not_take_it_is_a_failure_of_the_stack(traffic: Traffic) -> None:
    warm = warm_up_traffic(SPEC, traffic, 3)
    producer = FakeProducer(Time(), failing={1: KafkaTimeoutError("slow")})
    with pytest.raises(StackError, match="publishing the warm-up to source failed"):
        publish_warm_up(warm, "source", lambda: producer)
    assert producer.is_closed

    def refuse() -> Producer:
        raise KafkaTimeoutError("gone")

    with pytest.raises(StackError, match="gone"):
        publish_warm_up(warm, "source", refuse)


@pytest.fixture(scope="module")
def records() -> tuple[SourceRecord, ...]:
    return generate(TrafficSpec.model_validate({"seed": 7, "rate": "50/s", "for": "4s"})).records


def test_only_the_time_of_receipt_is_another_and_as_generated_nothing(records: tuple[SourceRecord, ...]) -> None:
    stamped = 0
    for record in records:
        assert as_generated(record) is record
        found = received_now(record, lambda: NOW)
        assert (found.key, found.expected, len(found.value)) == (record.key, record.expected, len(record.value))
        if record.expected.fate == "error" or found.value == record.value:
            continue  # a broken message may have no such time
        before, after = orjson.loads(record.value), orjson.loads(found.value)
        assert after["meta"].pop("dt") == "2031-05-06T07:08:09.123Z"
        before["meta"].pop("dt")
        assert after == before
        stamped += 1
    assert stamped > 0.9 * len(records)


def test_a_job_sees_a_stamped_event_as_young_and_a_generated_one_as_old(records: tuple[SourceRecord, ...]) -> None:
    generated = next(one for one in records if one.expected.fate == "output")
    stamped = received_now(generated, lambda: NOW)
    young = [
        within_not_found_grace(parse(record.value, "source/0/0"), timedelta(seconds=30), NOW + timedelta(seconds=2))
        for record in (generated, stamped)
    ]
    assert young == [False, True]
