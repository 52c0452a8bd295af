"""The jobs by name. A further one of the project needs a line here, one in `pipeline.jobs.names`, and what `Job` asks
for; one of another package calls `register`.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.client import WikiClient
from pipeline.jobs.content import ContentJob
from pipeline.jobs.edit_counts import EditCountsJob
from pipeline.jobs.html import HtmlJob
from pipeline.jobs.job import Job
from pipeline.jobs.names import JOB_DEFAULTS, JobDefaults
from pipeline.jobs.rdf_decide import RdfDecideJob
from pipeline.jobs.rdf_resolve import RdfResolveJob

MakeJob = Callable[[PipelineConfig, WikiClient], Job[Any, Any]]

_makes: dict[str, MakeJob] = {
    "html-enrichment": lambda config, client: HtmlJob(config, client, lambda: datetime.now(UTC)),
    "content-enrichment": lambda config, client: ContentJob(config, client, lambda: datetime.now(UTC)),
    "edit-counts": lambda config, _client: EditCountsJob(config.count),
    "rdf-resolve": lambda config, client: RdfResolveJob(config, client, lambda: datetime.now(UTC)),
    "rdf-decide": lambda config, _client: RdfDecideJob(config),
}
JOBS: Mapping[str, MakeJob] = MappingProxyType(_makes)


def register(name: str, make: MakeJob, defaults: JobDefaults) -> None:
    """Add a job: `make` is called once in each Python worker. Raises ValueError when the name is taken."""
    JOB_DEFAULTS.add(name, defaults)
    _makes[name] = make
