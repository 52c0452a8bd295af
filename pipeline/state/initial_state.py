"""The state that a job begins with: rows beside a checkpoint of which no batch is committed.

    job.json           says how many entities and files there are
    initial-state/     Parquet, `entity` and `last`; the first batch takes them up
    sources/0/0        where the job begins, written last: without it there is no position, and no job begins

Spark takes an initial state for batch 0 alone. So a start gives it the rows until that batch is committed: one that
died in its first batch runs it again with all of them. Afterwards nothing reads the files.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveInt

from located_config.count import counted
from pipeline.errors import RefusedError
from pipeline.ops.moment import show_ms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pipeline.ops.files import ReadableFiles

DIRECTORY = "initial-state"
ENTITY, LAST = "entity", "last"
"""The columns: the id of an entity, and its last revision."""


class InitialState(BaseModel):
    """`entities` in `files`; `since_ms` is the time from which the job reads on, in milliseconds since the epoch."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    entities: PositiveInt
    files: PositiveInt
    since_ms: NonNegativeInt

    def in_words(self) -> str:
        """As in `10,000 entities in 1 file, and the events since 2026-01-31T12:00:00Z`."""
        return (
            f"{counted(self.entities, 'entity', 'entities')} in {counted(self.files, 'file')}, and the events since "
            f"{show_ms(self.since_ms)}"
        )

    def damages(self, files: "ReadableFiles") -> list[str]:
        """Why the first batch could not take it up, with what there is to do."""
        there = len(files.names(DIRECTORY))
        if there == self.files:
            return []
        return [
            f"{DIRECTORY}/ holds {counted(there, 'file')}, and the bootstrap wrote {self.files}: restore it, or "
            "bootstrap another checkpoint"
        ]


def initial_rows(spark: "SparkSession", checkpoint: str) -> "DataFrame":
    """The rows: `ENTITY` as text, `LAST` as long."""
    return spark.read.schema(f"{ENTITY} string, {LAST} long").parquet(f"{checkpoint.rstrip('/')}/{DIRECTORY}")


def require_complete(entries: Collection[str], checkpoint: str, *, has_position: bool) -> None:
    """`entries` is what lies at the checkpoint's top. Raises RefusedError for what a bootstrap or a copy left that did
    not end: a start with `--new` would begin without it, or with a state that is not its own.
    """
    if has_position:
        return
    if DIRECTORY in entries:
        raise RefusedError(
            f"checkpoint {checkpoint} holds {DIRECTORY}/ and no position: its bootstrap or copy has not ended",
            hint="if neither runs any more, remove what is there, and begin it again",
        )
    # With commits it is no copy, but a checkpoint that has lost its position.
    if "state" in entries and "commits" not in entries:
        raise RefusedError(
            f"checkpoint {checkpoint} holds state/ and no position: its copy has not ended",
            hint="if `checkpoint fork` does not run any more, remove what is there, and copy again",
        )
