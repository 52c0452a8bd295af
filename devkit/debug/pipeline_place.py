"""What a running stack's pipeline is told: the newest configuration file in the directory of its run.

    devkit up              <run>/pipeline.yaml beside the logs, <run>/rdf-decide/pipeline.yaml of the job before it
    devkit scenario run    <run>/ARM/pipeline.yaml beside <run>/stack

The topics of an arm are deleted for the next one, so the newest file is the one that still means something.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import ValidationError

from devkit.errors import UsageError
from devkit.observe.checkpoint import Checkpoint
from devkit.programs.spark.configuration import CONFIG
from devkit.programs.stack_job import DECIDE
from devkit.report.run_record import TIMELINE
from devkit.stack.parts.object_store import ACCESS_KEY, SECRET_KEY, s3_client
from pipeline.config.pipeline_config import PipelineConfig

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_FILE = "pipeline.yaml"
_SHORT = ("source", "output", "error", "deferred")
_FETCH_FAILURE = "fetch-failure"


@dataclass(frozen=True)
class PipelinePlace:
    """The configuration, and its file."""

    config: PipelineConfig
    file: Path

    def checkpoint(self, endpoint: str, environment: Mapping[str, str]) -> Checkpoint:
        """Its checkpoint in the store at `endpoint`; credentials of one that is not the kit's are in `environment`."""
        client: S3Client = s3_client(
            endpoint,
            access_key=environment.get("DEVKIT_S3_ACCESS_KEY", ACCESS_KEY),
            secret_key=environment.get("DEVKIT_S3_SECRET_KEY", SECRET_KEY),
        )
        place = urlsplit(self.config.checkpoint)
        return Checkpoint(client, place.netloc, place.path, self.config.source.all_topics)

    def topics(self) -> dict[str, str]:
        """The topics by their part, which is also what a person may call them; `source` is the first of several.
        `fetch-failure` is there where the job has such a topic.
        """
        config = self.config
        names = (config.source.all_topics[0], config.sink.topic, config.sink.error_topic, config.deferral.topic)
        of_some = {_FETCH_FAILURE: topic} if (topic := config.sink.fetch_failure_topic) is not None else {}
        return dict(zip(_SHORT, names, strict=True)) | of_some


def find_place(logs: Path | None) -> PipelinePlace:
    """The place of the stack whose parts log to `logs`. Raises UsageError when no pipeline was started on it."""
    files = [] if logs is None else [logs / _FILE]
    if logs is not None and (logs.parent / TIMELINE).exists():
        files += logs.parent.glob(f"*/{_FILE}")
    existing = [file for file in files if file.is_file()]
    if not existing:
        raise UsageError(
            "no pipeline was started on this stack", hint="`devkit up` starts one, unless it is told --no-pipeline"
        )
    return _place_at(max(existing, key=lambda file: file.stat().st_mtime_ns))


def find_place_before(logs: Path | None) -> PipelinePlace | None:
    """That of the job whose output the pipeline reads; None on a stack without one. Raises UsageError."""
    file = None if logs is None else logs / DECIDE / _FILE
    return None if file is None or not file.is_file() else _place_at(file)


def _place_at(file: Path) -> PipelinePlace:
    try:
        return PipelinePlace(CONFIG.validate_json(file.read_bytes()), file)
    except ValidationError as error:
        raise UsageError(f"{file} is not of this kit: {error}", hint="start the stack again") from error
