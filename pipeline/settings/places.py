"""Where events come from and go to, and where content is fetched."""

from typing import Annotated

from pydantic import Field

from located_config.size import Size
from pipeline.jobs.names import HTML
from pipeline.settings.section import MIB, Host, HttpUrl, Section, Servers, Topic


class Source(Section):
    """Where page change events come from."""

    bootstrap_servers: Servers = Field(
        description="Brokers of the cluster that the events come from, `host:port`, several with commas between them.",
        examples=["kafka-1:9092,kafka-2:9092"],
    )
    topic: Topic = Field(default="mediawiki.page_change.v1", description="Topic of page change events.")


class Sink(Section):
    """Where enriched events and error events go."""

    bootstrap_servers: Servers = Field(
        description="Brokers of the cluster that enriched events and error events go to, `host:port`, several "
        "with commas between them.",
        examples=["kafka-1:9092,kafka-2:9092"],
    )
    topic: Topic = Field(
        default=HTML.output_topic,
        description="Topic of enriched events. Default for `content-enrichment`: `mediawiki.page_content_change.v1`.",
    )
    error_topic: Topic = Field(
        default=HTML.error_topic,
        description="Topic of error events. Default for `content-enrichment`: `mw_page_content_change_enrich.error`.",
    )
    max_request_size: Annotated[Size, Field(alias="max.request.size", gt=0)] = Field(
        default=MIB, description="The producer's own setting: the largest record, and request, that it sends, in bytes."
    )


class MediaWiki(Section):
    """Which host answers for which wiki. An event names a wiki, never a host."""

    endpoint: HttpUrl = Field(
        description="Where requests for every wiki go, without a path; the wiki's host is sent in the Host header.",
        examples=["http://mw-api-int:4680"],
    )
    wikis: dict[str, Host] = Field(
        default={"enwiki": "en.wikipedia.org"},
        min_length=1,
        description="Host of each wiki by its database name. An event of another wiki becomes the error event "
        "`unknown_wiki`.",
    )
