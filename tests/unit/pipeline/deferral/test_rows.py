"""Entries as rows: what a task reads of them is what the source said."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config.pipeline_config import Source
from pipeline.deferral.entry import Entry
from pipeline.deferral.rounds import entry_table
from pipeline.deferral.task import appended_us
from pipeline.worker.spark_task import SOURCE_COLUMNS, messages_of
from tests.unit.pipeline.deferral.making import ENTRIES, entry


def test_columns_and_types_are_those_of_the_source() -> None:
    schema = entry_table([]).schema
    assert schema.names == list(SOURCE_COLUMNS)
    assert schema.types == [
        pa.string(),
        pa.int32(),
        pa.int64(),
        pa.binary(),
        pa.binary(),
        pa.timestamp("us", tz="UTC"),
    ]


@given(st.lists(ENTRIES, max_size=5))
def test_a_task_reads_what_was_deferred(entries: list[Entry]) -> None:
    """Key and value may be null, which is not the same as empty; the order is that of the entries."""
    names = [name for one in entries for name, _ in one.headers]
    source = Source(bootstrap_servers="a:1", pass_headers=tuple(dict.fromkeys(names)))
    messages = list(messages_of(iter(entry_table(entries).to_batches()), source))
    assert [(m.position, m.key, m.value, dict(m.headers), m.counted) for m in messages] == [
        (e.position, e.key, e.value, dict(e.headers), e.counted) for e in entries
    ]


@pytest.mark.parametrize(
    ("microseconds", "read"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
        (253_402_300_799_999_999, datetime.max.replace(tzinfo=UTC)),
        (253_402_300_800_000_000, datetime.max.replace(tzinfo=UTC)),
        (2**63 - 1, datetime.max.replace(tzinfo=UTC)),
        (-(2**63), datetime.min.replace(tzinfo=UTC)),
    ],
)
def test_a_time_that_no_calendar_has_is_the_nearest_that_can_be_said(microseconds: int, read: datetime) -> None:
    (message,) = messages_of(iter(entry_table([entry(1, appended_us=microseconds)]).to_batches()))
    assert message.appended == read


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_time_goes_around_unchanged(moment: datetime) -> None:
    microseconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // (datetime.resolution)
    (message,) = messages_of(iter(entry_table([entry(1, appended_us=microseconds)]).to_batches()))
    assert appended_us(message) == microseconds
