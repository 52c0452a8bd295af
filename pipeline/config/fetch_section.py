"""How content is fetched, and which."""

import math
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PositiveInt

from located_config.duration import Duration, PositiveDuration
from located_config.share import Share
from located_config.size import Size
from pipeline.config.section import MIB, Section
from pipeline.jobs.names import FIRST, other_defaults


class RetryBudgetConfig(Section):
    """How many requests may be retries."""

    share: Share = Field(
        default=0.1, description="Number of retries that are allowed, as a share of the first requests."
    )
    burst: Annotated[int, Field(ge=0)] = Field(
        default=10,
        description="Number of retries that are allowed before any first request was made, and the most that are "
        "saved up.",
    )


class RetryUnknown(Section):
    """How often a revision that its wiki does not know is asked for, within the micro-batch of its event."""

    total_requests: PositiveInt = Field(
        description="Number of requests for an unknown revision in all, the first one included.", examples=[4]
    )
    every: PositiveDuration = Field(description="Time between two of them, for which the event waits.", examples=["5s"])


class Fetch(Section):
    """How content is fetched: one deadline for a record, shared by all its requests.

    The bounds of the main lane are divided among its Python workers.
    """

    concurrency: PositiveInt = Field(
        default=FIRST.concurrency,
        description="Number of requests of the main lane that may be under way at once, over all Python workers."
        f"{other_defaults('concurrency')}",
    )
    deadline: PositiveDuration = Field(
        default=timedelta(seconds=60),
        description="Time that a record has for all its requests together, from the first of them on.",
    )
    request_timeout: PositiveDuration = Field(
        default=timedelta(seconds=20), description="Time that one request has, to the last byte of its body."
    )
    total_requests: PositiveInt = Field(
        default=4, description="Number of requests that a fetch may make in all, the first one included."
    )
    retried_statuses: tuple[int, ...] = Field(
        default=(408, 429, 500, 502, 503),
        description="HTTP statuses after which a fetch is tried again. A 504 among them is unsafe: the upstream "
        "is still working on the request, and begins it once more. Any other below 500 is tried again only where "
        "MediaWiki's error code asks for it, or where the answer is not MediaWiki's.",
    )
    backoff: Duration = Field(
        default=timedelta(milliseconds=200),
        description="Longest pause before the second request of a fetch. It doubles for each further request; the"
        " actual pause is drawn between 0 and the longest.",
    )
    retry_budget: RetryBudgetConfig | Literal["none"] = Field(
        default=RetryBudgetConfig(),
        description="Bounds the retries of all records of a Python worker together. `none` is unsafe: an "
        "unhealthy upstream gets every retry.",
    )
    max_in_flight_bytes: Annotated[Size, Field(gt=0)] | Literal["none"] = Field(
        default=256 * MIB,
        description="Bytes of fetched content that records not yet emitted may hold in memory, over all Python "
        "workers; one record may always exceed it. While spool files hold the same amount, no other "
        "record begins. `none` is unsafe: as many bodies are in memory as requests may be under way.",
    )
    on_failure: Literal["error_event", "fail"] = Field(
        default="error_event",
        description="What a fetch comes to that has failed for good. `error_event`: an error event of its own, or the "
        "slow lane where another try may succeed. `fail` is unsafe: it ends the query, and each restart meets it "
        "again.",
    )
    body_limit: Literal["decoded", "content_length"] = Field(
        default="decoded",
        description="What is compared with `claim_check.max_bytes` when a body is read. `decoded`: the bytes that it "
        "decompresses to, so that reading stops there. `content_length`: the response header, which is unsafe, as it "
        "gives the compressed length and may be absent.",
    )
    connections: Literal["kept", "per_request"] = Field(
        default="kept",
        description="What happens to a connection after a request. `kept`: the next request of that Python worker "
        "uses it, within 3.5 s; one that is idle for longer is closed, after 7 s at the latest. So at most "
        "`concurrency` are in use, and as many may be idle in each worker that had the batch before. `per_request` "
        "is unsafe: it is closed, and each request opens another.",
    )
    inline_limit: Annotated[Size, Field(ge=0)] = Field(
        default=MIB, description="Bytes of a body that are read into memory; the rest goes into a spool file."
    )
    not_found_grace: Duration = Field(
        default=timedelta(seconds=60),
        description="Age of an event up to which its revision is tried again when the wiki does not know it, as "
        "replicas may lag. With `0s` an unknown revision is final at once.",
    )
    retry_unknown: RetryUnknown | None = Field(
        default=None,
        description="How an unknown revision is requested again, even if replicas cannot lag. Default: it is "
        "not. A value is unsafe: a deleted revision stays unknown, and its event waits for it in its "
        "micro-batch.",
    )

    @property
    def in_flight_bound(self) -> float:
        """`max_in_flight_bytes`, infinite where there is no bound."""
        return math.inf if self.max_in_flight_bytes == "none" else self.max_in_flight_bytes


def _whole_seconds(value: timedelta) -> timedelta:
    if value % timedelta(seconds=1):
        raise ValueError("MediaWiki takes whole seconds here, write for example 5s")
    return value


class ParentCache(Section):
    """What `html-enrichment` keeps of what it published, so that the next diff of a page need not fetch its parent."""

    policy: Literal["last", "none"] = Field(
        default="last",
        description="`last`: the HTML of each page's last published revision is kept on the host until something of "
        "the page is hidden, and the diff of the next one is to that. `none`: the wiki is asked for every parent.",
    )
    max_bytes: Annotated[Size, Field(gt=0)] = Field(
        default=64 * MIB, description="Bytes of compressed HTML that each host keeps on disk, at most."
    )


class Content(Section):
    """Which content is requested from the Action API, by a job that uses it."""

    models: Annotated[tuple[str, ...], Field(min_length=1)] | Literal["all"] = Field(
        default="all",
        description="Content models that are enriched, as a list; events of others are filtered."
        " `all` enriches every model.",
    )
    maxlag: Annotated[Duration, AfterValidator(_whole_seconds)] = Field(
        default=timedelta(seconds=5),
        description="Replica lag, in whole seconds, above which MediaWiki refuses a request; the request is tried"
        " again after MediaWiki's `Retry-After`.",
    )
