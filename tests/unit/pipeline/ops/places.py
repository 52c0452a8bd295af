"""A recorded checkpoint, of a job that worked off 20 events in three batches, to be changed as a test needs it."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

from pipeline.config.pipeline_config import ClaimCheck
from pipeline.ops.files import CheckpointFiles, open_files
from pipeline.ops.source import Bounds
from pipeline.ops.spark_checkpoint import SparkCheckpoint, read_checkpoint

STOPPED = Path(__file__).with_name("checkpoints") / "stopped"
QUERY_ID = "f2a19636-e1cb-4d84-921a-f79d297fada6"
TOPIC = "mediawiki.page_change.v1"
NOW = datetime(2026, 12, 1, tzinfo=UTC)
BOUNDS = Bounds({0: 0}, {0: 20})


def files_at(place: Path | str) -> CheckpointFiles:
    return open_files(str(place), ClaimCheck())


def recorded(directory: Path, *, without: tuple[str, ...] = ()) -> Path:
    """A copy of the recorded checkpoint, less some files."""
    place = directory / "checkpoint"
    shutil.copytree(STOPPED, place)
    for name in without:
        (place / name).unlink()
    return place


def checkpoint_at(place: Path) -> SparkCheckpoint:
    return read_checkpoint(files_at(place))


def rewrite(place: Path, name: str, old: str, new: str) -> None:
    text = (place / name).read_text()
    assert old in text
    (place / name).write_text(text.replace(old, new))


def contents(place: Path) -> dict[str, bytes]:
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}
