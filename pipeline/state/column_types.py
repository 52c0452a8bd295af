"""Spark's types of the source's columns."""

from collections.abc import Mapping

from pipeline.worker.spark_task import HEADERS, HORIZON

COLUMN_TYPES: Mapping[str, str] = {
    "topic": "string",
    "partition": "int",
    "offset": "long",
    "key": "binary",
    "value": "binary",
    "timestamp": "timestamp",
    HORIZON: "timestamp",
    HEADERS: "array<struct<key: string, value: binary>>",
}
