"""A job in one file, as a user would write it: two topics of different schemas, and a route of its own.

It counts the links of a page's source. A page change event is as in the project's jobs; an event of the other topic is
`{"$schema", "meta": {"id", "domain"}, "wiki": …, "rev": …}`.
"""

import uuid
from dataclasses import dataclass
from typing import Any

import orjson

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.client import WikiClient
from pipeline.fetch.deadline import Deadline
from pipeline.jobs.message import SourceMessage
from pipeline.jobs.names import PAGE_CHANGE_TOPIC, JobDefaults
from pipeline.jobs.registry import register
from pipeline.records.error_event import Failure
from pipeline.records.page_change import InvalidEventError
from pipeline.records.page_change import parse as page_change
from pipeline.schemas import PAGE_CHANGE_URI

LINKS_URI = "/acme/links/change/1.0.0"
LINKS_TOPIC = "acme.links_change.v1"
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:acme:link-count")


@dataclass(frozen=True)
class LinksEvent:
    """What the job needs of an event of either topic."""

    event_id: str
    domain: str | None
    wiki_id: str
    rev_id: int
    hidden: bool = False


@dataclass(frozen=True)
class LinkCount:
    links: int
    declared_bytes: int | None

    def decoded_bytes(self) -> int:
        return 0


class LinksRoute:
    """The page's source, by MediaWiki's REST API."""

    def path(self, rev_id: int) -> str:
        return f"/w/rest.php/v1/revision/{rev_id}"

    def read(self, rev_id: int, *answer: Any) -> str:
        return str(orjson.loads(answer[-1])["source"])

    def refusal(self, body: str) -> str | None:
        return None


ROUTE = LinksRoute()


class LinksJob:
    def __init__(self, config: PipelineConfig, client: WikiClient) -> None:
        self._client = client

    def schema(self, message: SourceMessage) -> str:
        return LINKS_URI if message.position.topic == LINKS_TOPIC else PAGE_CHANGE_URI

    def parse(self, message: SourceMessage) -> LinksEvent:
        if message.position.topic != LINKS_TOPIC:
            page = page_change(message.value, str(message.position))
            hidden = page.kind == "delete" or not page.content_visible
            return LinksEvent(page.event_id, page.domain, page.wiki_id, page.rev_id, hidden)
        try:
            event = orjson.loads(message.value or b"")
            meta = event["meta"]
            return LinksEvent(meta["id"], meta.get("domain"), event["wiki"], int(event["rev"]))
        except orjson.JSONDecodeError as error:
            raise InvalidEventError(Failure("malformed_json", str(error))) from error
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidEventError(Failure("schema_violation", f"not a {LINKS_URI} event: {error!r}")) from error

    def wants(self, event: LinksEvent) -> bool:
        return event.wiki_id != "testwiki"

    def needs_fetch(self, event: LinksEvent) -> bool:
        return not event.hidden

    def key(self, message: SourceMessage, event: LinksEvent) -> bytes | None:
        return f"{event.wiki_id}:{event.rev_id}".encode()

    async def fetch(self, event: LinksEvent, *, deadline: Deadline) -> LinkCount:
        page = await self._client.fetch(
            event.wiki_id, event.rev_id, request_id=f"{event.event_id}:links", deadline=deadline, route=ROUTE
        )
        return LinkCount(page.text.count("[["), page.content_length)

    def value(self, event: LinksEvent, fetched: LinkCount | None, *, stream: str) -> bytes:
        meta = {"stream": stream, "id": str(uuid.uuid5(NAMESPACE, event.event_id))}
        return orjson.dumps({"meta": meta, "rev": event.rev_id, "links": fetched and fetched.links})


def make(config: PipelineConfig, client: WikiClient) -> LinksJob:
    return LinksJob(config, client)


DEFAULTS = JobDefaults(
    source_topics=(PAGE_CHANGE_TOPIC, LINKS_TOPIC),
    output_topic="acme.link_count.v1",
    error_topic="acme.link_count.error",
    deferred_topic="acme.link_count.deferred",
    claim_prefix="link-count",
)
register("link-count", make, DEFAULTS)
