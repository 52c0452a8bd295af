from datetime import UTC, datetime, timedelta

import orjson
import pytest

from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from devkit.traffic.received import as_generated, received_now
from devkit.traffic.records import SourceRecord
from pipeline.jobs.page_change_job import within_not_found_grace
from pipeline.records.page_change import parse

NOW = datetime(2031, 5, 6, 7, 8, 9, 123_000, tzinfo=UTC)


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
