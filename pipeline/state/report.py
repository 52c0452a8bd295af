"""The state of a job as it lies in its checkpoint, read by Spark's own reader of state stores."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pipeline.errors import RefusedError, failure
from pipeline.ops.moment import show
from pipeline.state.decided_by_entity import BUFFERED, ENTITY
from pipeline.state.initial_state import DIRECTORY, InitialState, initial_rows
from pipeline.state.state_mark import BY_ENTITY, StateMark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_STORE = "default"


@dataclass(frozen=True, slots=True)
class StorePartition:
    """`first` and `last` are when its first and its last row are forgotten, in event time; None without such a row."""

    partition: int
    rows: int
    first: datetime | None = None
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class StateReport:
    """A state as the last committed batch left it; `batch` is None before the first one, which takes up what a
    bootstrap wrote. `bytes` are those of all its files in the checkpoint. `waiting` are the entities that have events
    which wait for their time, None where the state is not of entities.
    """

    operator: str
    batch: int | None
    bytes: int
    partitions: tuple[StorePartition, ...]
    waiting: int | None = None

    @property
    def rows(self) -> int:
        """The rows of all partitions."""
        return sum(partition.rows for partition in self.partitions)


def read_state(spark: "SparkSession", checkpoint: str, batch: int, *, size: int) -> StateReport:
    """The state after a batch; `size` is that of its files. Raises RefusedError when there is none, PipelineError for
    one that Spark cannot read.
    """
    try:
        stores = spark.read.format("state-metadata").load(checkpoint).where(f"stateStoreName = '{_STORE}'").collect()
        operator = str(stores[0]["operatorName"]) if stores else ""
        of_entities = operator == BY_ENTITY
        variable = {"stateVarName": ENTITY} if of_entities else {}
        by_partition = _rows_by_partition(_rows(spark, checkpoint, batch, **variable)) if stores else {}
        lists = {"stateVarName": BUFFERED, "flattenCollectionTypes": "false"}
        waiting = _rows(spark, checkpoint, batch, **lists).count() if of_entities else None
    except Exception as error:
        raise failure(f"state of checkpoint {checkpoint} after batch {batch}: reading it", str(error)) from error
    if not stores:
        raise RefusedError(f"checkpoint {checkpoint} has no state", hint="source.deduplicate gives a job one")
    return StateReport(
        operator=operator,
        batch=batch,
        bytes=size,
        partitions=tuple(
            by_partition.get(number, StorePartition(number, 0)) for number in range(int(stores[0]["numPartitions"]))
        ),
        waiting=waiting,
    )


def read_initial_state(spark: "SparkSession", checkpoint: str, *, size: int) -> StateReport:
    """The state of a job without a committed batch, by the files of its bootstrap; `size` is theirs. Raises
    PipelineError for one that Spark cannot read.
    """
    from pyspark.sql import functions

    try:
        rows = initial_rows(spark, checkpoint).groupBy("_metadata.file_name").agg(functions.count("*"))
        counts = [count for _, count in sorted(rows.collect())]
    except Exception as error:
        raise failure(f"initial state of checkpoint {checkpoint}: reading it", str(error)) from error
    return StateReport(
        operator="bootstrap",
        batch=None,
        bytes=size,
        partitions=tuple(StorePartition(number, count) for number, count in enumerate(counts)),
    )


def initial_problems(report: StateReport, bootstrap: InitialState | None) -> list[str]:
    """Contradictions between the files of a bootstrap and what it wrote of them, with a remedy."""
    entities = bootstrap.entities if bootstrap else 0
    if report.rows == entities:
        return []
    return [
        f"rows: {report.rows} in {DIRECTORY}/, {entities} in job.json: restore both from one copy, or bootstrap "
        "another checkpoint"
    ]


def _rows(spark: "SparkSession", checkpoint: str, batch: int, **options: str) -> "DataFrame":
    return spark.read.format("statestore").options(batchId=batch, **options).load(checkpoint)


def _rows_by_partition(rows: "DataFrame") -> dict[int, StorePartition]:
    """Only partitions that have rows."""
    from pyspark.sql import functions
    from pyspark.sql.types import StructType

    value = rows.schema["value"].dataType
    has_time = isinstance(value, StructType) and "expiresAtMicros" in value.fieldNames()
    expires = functions.col("value.expiresAtMicros") if has_time else functions.lit(None).cast("long")
    counted = rows.groupBy("partition_id").agg(functions.count("*"), functions.min(expires), functions.max(expires))
    return {
        number: StorePartition(number, count, _moment(first), _moment(last))
        for number, count, first, last in counted.collect()
    }


def problems(report: StateReport, mark: StateMark | None, logged_rows: int | None) -> list[str]:
    """Contradictions between a state, what the first start fixed and Spark's log; each with a remedy."""
    reasons = []
    if mark is None:
        reasons.append("job.json does not say what the state is: restore the file")
    else:
        pairs = (("operator", report.operator, mark.operator), ("partitions", len(report.partitions), mark.partitions))
        reasons += [
            f"{field}: {actual} in the state, {expected} in job.json: restore both from one copy"
            for field, actual, expected in pairs
            if actual != expected
        ]
    # Spark counts the lists of what waits as well.
    rows = report.rows + (report.waiting or 0)
    if logged_rows is not None and logged_rows != rows:
        reasons.append(
            f"{rows} rows after batch {report.batch}, and the job's log says {logged_rows}: files of the state "
            "are not those of this job; restore the checkpoint, or begin at another with `run --new`"
        )
    return reasons


def logged_rows(lines: Iterator[str], batch: int) -> int | None:
    """Rows of the state after a batch, by the lines of the job's log; None where they do not say."""
    rows = None
    for line in lines:
        if '"state_committed"' not in line:
            continue
        try:
            fields = json.loads(line)
            if fields["batch"] == batch:
                rows = int(fields["rows"])
        except (ValueError, KeyError, TypeError):
            continue  # cut off, or another program's
    return rows


def lines_of(report: StateReport) -> Iterator[str]:
    """What `state show` prints."""
    yield f"operator    {report.operator}"
    yield f"after batch {'none: the first one takes it up' if report.batch is None else report.batch}"
    yield f"rows        {report.rows}"
    if report.waiting is not None:
        yield f"waiting     {report.waiting} entities with events whose time has not come"
    yield f"bytes       {report.bytes} in the checkpoint"
    row = "{:>9} {:>12}  {:<26} {}".format
    yield row("partition", "rows", "first is forgotten at", "last at")
    for partition in report.partitions:
        yield row(
            partition.partition,
            partition.rows,
            show(partition.first) if partition.first else "-",
            show(partition.last) if partition.last else "-",
        )


def document(report: StateReport) -> str:
    """What `state show --json` prints: one object."""
    return json.dumps(
        {
            "operator": report.operator,
            "batch": report.batch,
            "rows": report.rows,
            "bytes": report.bytes,
            **({} if report.waiting is None else {"waiting": report.waiting}),
            "partitions": [
                {
                    "partition": partition.partition,
                    "rows": partition.rows,
                    "first_expires": partition.first.isoformat() if partition.first else None,
                    "last_expires": partition.last.isoformat() if partition.last else None,
                }
                for partition in report.partitions
            ],
        }
    )


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else datetime.fromtimestamp(micros / 1_000_000, UTC)
