"""The jobs that `devkit up --job NAME` starts: what runs on Spark and beside it, and what the mock and the event bus
give them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from devkit.errors import UsageError
from devkit.event_bus.streams import ENTITY_OPERATIONS, PAGE_CHANGES
from devkit.stack.wikibase_pages import DOMAIN, WIKI
from located_config.near import near_miss
from pipeline.jobs.names import FIRST_JOB, JOB_DEFAULTS, PAGE_CHANGE_TOPIC


@dataclass(frozen=True)
class StackJob:
    """`job` is the one on Spark, `stream` is what the event bus publishes to its source topic. `wikis` are domains by
    wiki, None for the wiki that the mock has by default. With `applies` its mutations are applied to a triple store.
    """

    job: str
    stream: str = PAGE_CHANGES
    wikis: Mapping[str, str] | None = None
    applies: bool = False


RDF_UPDATER: Final = "rdf-updater"
DEFAULT: Final = FIRST_JOB
_UPDATER: Final = StackJob("rdf-resolve", ENTITY_OPERATIONS, {WIKI: DOMAIN}, applies=True)


def stack_jobs() -> Mapping[str, StackJob]:
    """By name: all jobs that read page changes, extensions among them, and the updater."""
    of_pages = {name: StackJob(name) for name, job in JOB_DEFAULTS.items() if job.source_topics == (PAGE_CHANGE_TOPIC,)}
    return {**of_pages, RDF_UPDATER: _UPDATER}


def find_stack_job(name: str) -> StackJob:
    """Raises UsageError, with the near miss, for a name that is none of them."""
    jobs = stack_jobs()
    if name in jobs:
        return jobs[name]
    if name == _UPDATER.job:
        raise UsageError(
            f"--job {name}: it runs as a part of the updater, with what applies its mutations",
            hint=f"give --job {RDF_UPDATER}",
        )
    raise UsageError(f"--job {name}: there is no such job", hint=near_miss(name, jobs))
