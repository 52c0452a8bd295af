"""The names of the jobs, and what each reads and writes unless its configuration says otherwise: all that a
configuration needs to know of a job.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from located_config.near import near_miss
from located_config.registry import Registry

PAGE_CHANGE_TOPIC = "mediawiki.page_change.v1"
_DATA_CENTRES = ("eqiad", "codfw")
_WIKIBASE_STREAMS = (
    "mediawiki.revision-create",
    "mediawiki.page-delete",
    "mediawiki.page-undelete",
    "mediawiki.page-suppress",
    "rdf-streaming-updater.reconcile",
)


@dataclass(frozen=True, kw_only=True)
class JobDefaults:
    """Topics, and the prefix of claim checks. Each job writes to places of its own, so that none writes into those of
    another. `requests` is the number of requests that an event makes, as far as capacity is planned, and `concurrency`
    how many are under way at once. `splits_outputs` is whether an output may take several records. Without a
    `fetch_failure_topic` failed fetches are error events. A job with a `lapsed_topic` says itself what is late, and one
    with an `inconsistency_topic` writes state_inconsistency events. `read` is how sources are read; one that fetches
    nothing has nothing to defer.
    """

    source_topics: tuple[str, ...] = (PAGE_CHANGE_TOPIC,)
    output_topic: str
    error_topic: str
    deferred_topic: str
    claim_prefix: str
    requests: int = 1
    concurrency: int = 128
    splits_outputs: bool = False
    fetch_failure_topic: str | None = None
    lapsed_topic: str | None = None
    inconsistency_topic: str | None = None
    read: Literal["proportional", "aligned"] = "proportional"
    defers: bool = True


JOB_DEFAULTS: Registry[JobDefaults] = Registry(
    "job",
    {
        "html-enrichment": JobDefaults(
            output_topic="mediawiki.page_html_content_change.v1",
            error_topic="mw_page_html_content_change_enrich.error",
            deferred_topic="mw_page_html_content_change_enrich.deferred",
            claim_prefix="html-enrichment",
            requests=2,
        ),
        "content-enrichment": JobDefaults(
            output_topic="mediawiki.page_content_change.v1",
            error_topic="mw_page_content_change_enrich.error",
            deferred_topic="mw_page_content_change_enrich.deferred",
            claim_prefix="content-enrichment",
        ),
        "edit-counts": JobDefaults(
            output_topic="mediawiki.page_edit_count.v1",
            error_topic="mw_page_edit_count.error",
            deferred_topic="mw_page_edit_count.deferred",
            claim_prefix="edit-counts",
        ),
        "rdf-resolve": JobDefaults(
            source_topics=("rdf-streaming-updater.operation",),
            output_topic="rdf-streaming-updater.mutation",
            error_topic="rdf-streaming-updater.error",
            deferred_topic="rdf-streaming-updater.deferred",
            claim_prefix="rdf-resolve",
            requests=2,
            # An answer takes ten milliseconds of a worker: more of them would only wait for that, past their deadlines.
            concurrency=32,
            splits_outputs=True,
            fetch_failure_topic="rdf-streaming-updater.fetch-failure",
        ),
        "rdf-decide": JobDefaults(
            source_topics=tuple(f"{centre}.{stream}" for centre in _DATA_CENTRES for stream in _WIKIBASE_STREAMS),
            output_topic="rdf-streaming-updater.operation",
            error_topic="rdf-streaming-updater.decide-error",
            deferred_topic="rdf-streaming-updater.decide-deferred",
            claim_prefix="rdf-decide",
            splits_outputs=True,
            lapsed_topic="rdf-streaming-updater.lapsed-action",
            inconsistency_topic="rdf-streaming-updater.state-inconsistency",
            read="aligned",
            defers=False,
        ),
    },
)
FIRST_JOB, FIRST = next(iter(JOB_DEFAULTS.items()))
"""The job of a configuration that names none; its defaults stand in the sections."""


def other_defaults(key: str) -> str:
    """A sentence for each job but the first that has another default: of the keys of `JobDefaults`, `key`."""
    by_job = {name: getattr(defaults, key) for name, defaults in JOB_DEFAULTS.items()}
    return "".join(f" Default for `{name}`: `{value}`." for name, value in by_job.items() if value != by_job[FIRST_JOB])


def _known(name: str) -> str:
    if name not in JOB_DEFAULTS:
        remedy = f"{near_miss(name, JOB_DEFAULTS)}; --extend loads a job of your own"
        raise PydanticCustomError("job", "there is no job {job}", {"job": repr(name), "hint": remedy})
    return name


class _Schema:
    """The jobs there are when the schema is written."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(core) | {"enum": list(JOB_DEFAULTS)}


JobName = Annotated[str, AfterValidator(_known), _Schema()]
