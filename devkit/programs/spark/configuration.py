"""The pipeline's configuration model, and what the stack fills in."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter

from devkit.errors import UsageError
from devkit.owner_file import write_for_owner
from devkit.programs.places import CONFIG_FILE, Places, merge
from devkit.programs.program_topics import ProgramTopics
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.unsafe import has_watermark
from pipeline.jobs.names import JOB_DEFAULTS

CONFIG: TypeAdapter[PipelineConfig] = TypeAdapter(PipelineConfig)

GIVEN_BY_STACK = (
    ("checkpoint",),
    ("source", "bootstrap_servers"),
    ("sink", "bootstrap_servers"),
    ("mediawiki", "endpoint"),
    ("claim_check", "endpoint"),
    ("claim_check", "bucket"),
)


def find_job(words: str) -> str | None:
    """The job that `run:` names, None where it names none. Raises UsageError that lists the jobs."""
    if not words:
        return None
    if words not in JOB_DEFAULTS:
        raise UsageError(f"there is no job {words!r}", hint=f"there are: {', '.join(JOB_DEFAULTS)}")
    return words


def raw_configuration(places: Places, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration before it is checked."""
    stack_settings = {
        "source": {"bootstrap_servers": places.bootstrap},
        "sink": {"bootstrap_servers": places.bootstrap},
        "mediawiki": {"endpoint": places.mock_endpoint} | ({"wikis": dict(places.wikis)} if places.wikis else {}),
        "checkpoint": places.checkpoint,
        "claim_check": {"endpoint": places.s3_endpoint, "bucket": places.claim_bucket}
        | ({} if places.claim_prefix is None else {"prefix": places.claim_prefix}),
    }
    # The settings on top: they set no key of the stack's, and where they have no mapping the model says so.
    return merge(stack_settings, settings)


def configuration(places: Places, settings: Mapping[str, Any], job: str | None = None) -> PipelineConfig:
    """The checked configuration, of `job` where one is named. Raises pydantic's ValidationError."""
    job_setting = {} if job is None else {"job": job}
    return CONFIG.validate_python(raw_configuration(places, {**settings, **job_setting}))


def topics_of(config: PipelineConfig) -> ProgramTopics:
    """The topics that a configuration names; the deferral topic is used only where `defers`."""
    return ProgramTopics(
        sources=config.source.all_topics,
        output=config.sink.topic,
        error=config.sink.error_topic,
        deferral=config.deferral.topic,
        defers=config.deferral.policy == "defer",
        lapsed=config.sink.effective_lapsed_topic if config.lapses else None,
        event_time=config.source.read == "aligned" or has_watermark(config),
        fetch_failure=config.sink.fetch_failure_topic,
        inconsistency=config.sink.inconsistency_topic,
    )


def effective(config: PipelineConfig) -> dict[str, Any]:
    """The configuration with its defaults as JSON values, under the keys of a file."""
    values: dict[str, Any] = CONFIG.dump_python(config, mode="json", by_alias=True)
    return values


def declared(config: PipelineConfig) -> dict[str, Any]:
    """The same without the defaults: what the stack and the scenario have set."""
    values: dict[str, Any] = CONFIG.dump_python(config, mode="json", by_alias=True, exclude_unset=True)
    return values


def write_config(config: PipelineConfig, directory: Path, *, with_defaults: bool = True) -> Path:
    """The configuration as `pipeline.yaml` in `directory`; returns its absolute path."""
    return write_json(effective(config) if with_defaults else declared(config), directory)


def write_json(values: Mapping[str, Any], directory: Path) -> Path:
    """Values of a configuration as `pipeline.yaml` in `directory`; returns its absolute path."""
    config_file = (directory / CONFIG_FILE).absolute()
    # JSON is YAML, and needs no thought about quoting.
    write_for_owner(config_file, orjson.dumps(values, option=orjson.OPT_INDENT_2))
    return config_file
