"""Entries of the ledger as rows for Spark, in the columns of source messages; headers, and the events that one stands
for, where there are any.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import pyarrow as pa

from pipeline.deferral.entry import Entry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEMA = pa.schema(
    [
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("timestamp", pa.timestamp("us", tz="UTC")),
    ]
)


_HEADERS = pa.field("headers", pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])))
_COUNTED = pa.field("counted", pa.list_(pa.struct(list(_SCHEMA)[:3])))


def entry_rows(spark: "SparkSession", entries: Sequence[Entry]) -> "DataFrame":
    """A row for each entry, in their order."""
    return spark.createDataFrame(entry_table(entries))


def entry_table(entries: Sequence[Entry]) -> pa.Table:
    """The same rows as an Arrow table."""
    columns = {
        "topic": [entry.position.topic for entry in entries],
        "partition": [entry.position.partition for entry in entries],
        "offset": [entry.position.offset for entry in entries],
        "key": [entry.key for entry in entries],
        "value": [entry.value for entry in entries],
        "timestamp": [entry.appended_us for entry in entries],
    }
    arrays = [
        pa.array(columns[field.name], pa.int64() if field.name == "timestamp" else field.type) for field in _SCHEMA
    ]
    table = pa.Table.from_arrays(
        [array.cast(field.type) for array, field in zip(arrays, _SCHEMA, strict=True)], schema=_SCHEMA
    )
    if any(entry.headers for entry in entries):
        headers = [[{"key": name, "value": value} for name, value in entry.headers] or None for entry in entries]
        table = table.append_column(_HEADERS, pa.array(headers, _HEADERS.type))
    if any(entry.counted is not None for entry in entries):
        table = table.append_column(_COUNTED, pa.array(map(_places, entries), _COUNTED.type))
    return table


def _places(entry: Entry) -> list[dict[str, str | int]] | None:
    return None if entry.counted is None else [asdict(one) for one in entry.counted]
