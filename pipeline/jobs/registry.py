"""The jobs by name. A further one needs a line here, its name in `pipeline.config.JobName`, and what `Job` asks for."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from pipeline.config import JobName, PipelineConfig
from pipeline.fetch.client import WikiClient
from pipeline.jobs.content import ContentJob
from pipeline.jobs.html import HtmlJob
from pipeline.jobs.job import Job

MakeJob = Callable[[PipelineConfig, WikiClient], Job[Any]]

JOBS: Mapping[JobName, MakeJob] = {
    "html-enrichment": lambda config, client: HtmlJob(config.fetch, client, lambda: datetime.now(UTC)),
    "content-enrichment": lambda config, client: ContentJob(config, client, lambda: datetime.now(UTC)),
}
