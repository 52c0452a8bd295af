"""The jobs that `devkit up --job NAME` starts: what runs on Spark and beside it, and what the mock and the event bus
give them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from devkit.errors import UsageError
from devkit.event_bus.publisher import CANARY_EVERY
from devkit.event_bus.streams import PAGE_CHANGES, WIKIBASE
from devkit.stack.wikibase_pages import DOMAIN, WIKI
from located_config.near import near_miss
from pipeline.jobs.names import FIRST_JOB, JOB_DEFAULTS, PAGE_CHANGE_TOPIC


@dataclass(frozen=True)
class StackJob:
    """`job` is the one on Spark, `stream` is what the event bus publishes to the source topics. `wikis` are domains by
    wiki, None for the wiki that the mock has by default. `settings` are those that are not the defaults. `before` is a
    job on Spark whose output is the source. With `applies` the mutations are applied to a triple store.
    """

    job: str
    stream: str = PAGE_CHANGES
    wikis: Mapping[str, str] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    before: "StackJob | None" = None
    applies: bool = False


RDF_UPDATER: Final = "rdf-updater"
DECIDE: Final = "rdf-decide"
DEFAULT: Final = FIRST_JOB
REORDER: Final = timedelta(seconds=1)
"""The bus publishes in order, and waits for no other data centre: nothing is late by more."""
_WIKIS: Final = {WIKI: DOMAIN}
_DECIDE: Final = StackJob(DECIDE, WIKIBASE, _WIKIS, {"updater": {"reorder": f"{REORDER.total_seconds():g}s"}})
_UPDATER: Final = StackJob("rdf-resolve", WIKIBASE, _WIKIS, before=_DECIDE, applies=True)


def reorder_note(job: StackJob) -> str:
    """How long events wait in the job that puts them in order."""
    every, reorder = CANARY_EVERY.total_seconds(), job.settings["updater"]["reorder"]
    return (
        f"{job.job} lets events wait for earlier ones for {reorder} of their time (updater.reorder); the event bus "
        f"sends canaries, which move that time, every {every:g} s"
    )


def stack_jobs() -> Mapping[str, StackJob]:
    """By name: all jobs that read page changes, extensions among them, and the updater."""
    of_pages = {name: StackJob(name) for name, job in JOB_DEFAULTS.items() if job.source_topics == (PAGE_CHANGE_TOPIC,)}
    return {**of_pages, RDF_UPDATER: _UPDATER}


def find_stack_job(name: str) -> StackJob:
    """Raises UsageError, with the near miss, for a name that is none of them."""
    jobs = stack_jobs()
    if name in jobs:
        return jobs[name]
    if name in (_UPDATER.job, _DECIDE.job):
        raise UsageError(
            f"--job {name}: it runs as a part of the updater, with its other programs",
            hint=f"give --job {RDF_UPDATER}",
        )
    raise UsageError(f"--job {name}: there is no such job", hint=near_miss(name, jobs))
