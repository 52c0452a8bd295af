"""The names of the jobs, and where each writes unless its configuration says otherwise: all that a configuration needs
to know of a job.
"""

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from located_config.near import near_miss
from located_config.registry import Registry


@dataclass(frozen=True)
class JobPlaces:
    """Topics, and the prefix of claim checks. Each job has its own, so that none writes into those of another."""

    output_topic: str
    error_topic: str
    deferred_topic: str
    claim_prefix: str


HTML = JobPlaces(
    output_topic="mediawiki.page_html_content_change.v1",
    error_topic="mw_page_html_content_change_enrich.error",
    deferred_topic="mw_page_html_content_change_enrich.deferred",
    claim_prefix="html-enrichment",
)
CONTENT = JobPlaces(
    output_topic="mediawiki.page_content_change.v1",
    error_topic="mw_page_content_change_enrich.error",
    deferred_topic="mw_page_content_change_enrich.deferred",
    claim_prefix="content-enrichment",
)
PLACES: Registry[JobPlaces] = Registry("job", {"html-enrichment": HTML, "content-enrichment": CONTENT})


def _known(name: str) -> str:
    if name not in PLACES:
        raise PydanticCustomError("job", "there is no job {job}", {"job": repr(name), "hint": near_miss(name, PLACES)})
    return name


class _Schema:
    """The jobs there are when the schema is written."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(core) | {"enum": list(PLACES)}


JobName = Annotated[str, AfterValidator(_known), _Schema()]
