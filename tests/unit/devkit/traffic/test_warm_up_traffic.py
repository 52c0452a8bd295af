"""Traffic that is stamped when it is sent, and what a program is warmed up with."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.errors import KafkaTimeoutError

from devkit.errors import StackError
from devkit.traffic.all_streams import generate_all
from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from devkit.traffic.moments import to_milliseconds
from devkit.traffic.publish import Producer
from devkit.traffic.received import as_generated, received_now
from devkit.traffic.records import Expected, SourceRecord, Traffic
from devkit.traffic.registry import GENERATORS
from devkit.traffic.warm_up_traffic import publish_warm_up, warm_up_traffic
from pipeline.jobs.page_change_job import within_not_found_grace
from pipeline.rdf.operation import parse_operation
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


@pytest.mark.parametrize("generator", sorted(GENERATORS))
@given(seed=st.integers(0, 1000), repeats=st.sampled_from([None, {"share": "10%", "after": "1s"}]))
def test_of_each_generator_the_time_of_receipt_alone_is_another(generator: str, seed: int, repeats: object) -> None:
    spec = {"generator": generator, "seed": seed, "rate": "20/s", "for": "4s", "population": 20, "repeats": repeats}
    wikis = {} if generator == "page_change" else {"wikis": {"wikidatawiki": "www.wikidata.org"}}
    for record in generate_all(TrafficSpec.model_validate(spec | wikis)).records:
        assert as_generated(record) is record
        found = received_now(record, lambda: NOW)
        assert (found.key, found.expected, len(found.value)) == (record.key, record.expected, len(record.value))
        if record.expected.reason in ("malformed_json", "schema_violation"):
            continue  # a broken message may have no such time
        time = to_milliseconds(NOW - record.delay)
        before, after = orjson.loads(record.value), orjson.loads(found.value)
        if generator == "wikibase_change":
            assert (parse_operation(found.value).dt, after | {"dt": before["dt"]}) == (time, before)
        else:
            meta = after["meta"]
            assert (meta["dt"], after | {"meta": meta | {"dt": before["meta"]["dt"]}}) == (time, before)


@pytest.mark.parametrize(
    ("written", "stamped"),
    [
        ("2026-03-02T09:00:00Z", "2031-05-06T07:08:09Z"),
        ("2026-03-02T09:00:00.123456Z", "2031-05-06T07:08:09.123000Z"),
        ("2026-03-02T11:00:00.1+02:00", "2031-05-06T07:08:09.1+00:00"),
    ],
)
def test_a_stamp_is_written_as_the_time_that_was_there(
    records: tuple[SourceRecord, ...], written: str, stamped: str
) -> None:
    record = replace(records[0], value=orjson.dumps({"meta": {"dt": written}}))
    assert orjson.loads(received_now(record, lambda: NOW).value) == {"meta": {"dt": stamped}}


@pytest.mark.parametrize("value", [{"dt": "2026-03-02T09:00:00Z"}, {"meta": {"dt": "today"}}, {"meta": 1}, []])
def test_a_record_without_a_time_to_stamp_is_an_error_unless_it_is_broken(
    records: tuple[SourceRecord, ...], value: object
) -> None:
    record = replace(next(one for one in records if one.expected.fate == "output"), value=orjson.dumps(value))
    with pytest.raises(StackError, match=rf"record {record.index} of the traffic has no time in meta.dt"):
        received_now(record, lambda: NOW)
    broken = replace(record, expected=Expected(fate="error", reason="schema_violation"))
    assert received_now(broken, lambda: NOW) is broken


def test_a_job_sees_a_stamped_event_as_young_and_a_generated_one_as_old(records: tuple[SourceRecord, ...]) -> None:
    generated = next(one for one in records if one.expected.fate == "output")
    stamped = received_now(generated, lambda: NOW)
    young = [
        within_not_found_grace(parse(record.value, "source/0/0"), timedelta(seconds=30), NOW + timedelta(seconds=2))
        for record in (generated, stamped)
    ]
    assert young == [False, True]
