"""When finished records leave a Python worker, and how many in one Arrow batch."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.record import Record
from pipeline.worker import spark_task as task
from pipeline.worker.spark_task import _arrow_batches, _to_arrow
from tests.unit.pipeline.worker.test_spark_task import read

RECORDS = st.builds(
    Record,
    topic=st.sampled_from(["out", "error"]),
    key=st.none() | st.binary(max_size=9),
    value=st.binary(max_size=99),
    headers=st.lists(st.tuples(st.text(max_size=9), st.binary(max_size=9)), max_size=4).map(tuple),
)


@given(st.lists(RECORDS, max_size=9))
def test_records_arrive_as_they_left(records: list[Record]) -> None:
    batch = _to_arrow(records)
    batch.validate(full=True)
    assert batch.schema == task.RECORD_SCHEMA
    assert read([batch]) == records


def record_of(number: int) -> Record:
    return Record("out", b"%d" % number, b"value", ())


def sizes_of(groups: list[list[Record]], seconds_between: float = 0.0) -> list[int]:
    """How many records each Arrow batch has; each group comes so long after the one before."""
    now = [0.0]

    def coming() -> Iterator[list[Record]]:
        for group in groups:
            now[0] += seconds_between
            yield group

    return [batch.num_rows for batch in _arrow_batches(coming(), lambda: now[0])]


def test_what_is_finished_leaves_when_nothing_else_comes() -> None:
    records = [record_of(number) for number in range(5)]
    assert sizes_of([records[:2], records[2:4], [], records[4:]]) == [4, 1]
    assert sizes_of([[], [], []]) == []


def test_what_is_finished_leaves_when_it_is_old_although_more_comes() -> None:
    records = [[record_of(number)] for number in range(9)]
    assert sizes_of(records, 0.51 * task._BATCH_AGE_S) == [3, 3, 3]


def test_many_at_once_leave_in_batches_of_a_size() -> None:
    assert sizes_of([[record_of(number) for number in range(600)]]) == [256, 256, 88]
