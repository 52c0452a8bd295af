"""Removes the claim checks of what is suppressed; `pipeline.records.suppression` tells when and why.

    list the page's prefix ─▶ of those that are covered, each: by which event was it stored?
                                                                 ├─ a later one ─▶ it stays
                                                                 └─ else ─▶ write its mark ─▶ delete it

A mark says by what event, and is there before its payload is gone: a consumer that finds no payload finds the mark. All
of it may be done again, and what later events have published since is not taken. A store that does not answer is tried
a few times within half a minute. What is given up is logged, counted, and left for `claims suppress`; for some seconds
after that no other removal tries at all.

Where the bucket keeps old versions of objects, these remain: a lifecycle rule for them is the bucket's matter.
"""

import asyncio
import functools
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from pipeline import log
from pipeline.config.pipeline_config import ClaimCheck
from pipeline.events import ClaimChecksNotRemoved, ClaimChecksRemoved
from pipeline.metrics.catalogue import CLAIM_CHECKS_REMOVED, CLAIM_REMOVALS_FAILED
from pipeline.metrics.worker_metrics import RECORDER
from pipeline.records.claim_check import SharedClient, may_answer_later
from pipeline.records.claim_key import MOST_KEY_BYTES, mark_of, page_prefix, revision_in
from pipeline.records.claim_origin import ClaimOrigin, origin_of
from pipeline.records.record import Position
from pipeline.records.suppression import Suppression

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_AT_ONCE = 8
_PAUSES_S = (0.5, 2.0)
_LIMIT_S = 30.0
_REST_S = 10.0


@dataclass(frozen=True, slots=True)
class RemovalCounts:
    """How many claim checks were removed, and how many stay, as a later event has stored them."""

    removed: int
    stay: int


class ClaimRemoval:
    """Within a job. All calls of `remove` are made on one event loop; credentials come from the environment."""

    def __init__(
        self,
        config: ClaimCheck,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._config, self._clock, self._sleep = config, clock, sleep
        self._slots = asyncio.Semaphore(_AT_ONCE)
        # Of its own: behind uploads, which may take the loop's for minutes, its time would be over before it began.
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="claim-removal")
        self._client = SharedClient(config)
        self._rests_until: float | None = None
        self._reason = ""

    async def remove(self, suppression: Suppression, origin: ClaimOrigin) -> None:
        """Remove what the event suppresses; returns when it is gone or was given up."""
        async with self._slots:
            counts = await self._remove_with_retries(suppression, origin)
        source, revision = str(origin.position), suppression.rev_id
        if counts is None:
            RECORDER.count(CLAIM_REMOVALS_FAILED)
            log.emit(
                ClaimChecksNotRemoved(
                    wiki=suppression.wiki_id,
                    page=suppression.page_id,
                    revision=revision,
                    source=source,
                    reason=self._reason,
                    remedy="python -m pipeline claims suppress, when the store answers",
                )
            )
        elif counts.removed or counts.stay:
            RECORDER.count(CLAIM_CHECKS_REMOVED, by=counts.removed)
            log.emit(
                ClaimChecksRemoved(
                    wiki=suppression.wiki_id,
                    page=suppression.page_id,
                    revision=revision,
                    source=source,
                    removed=counts.removed,
                    stay=counts.stay,
                )
            )

    async def _remove_with_retries(self, suppression: Suppression, origin: ClaimOrigin) -> RemovalCounts | None:
        """Tries to remove the claim checks; returns how many were removed. None when it gave up, with the
        reason noted.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        if self._rests_until is not None and self._clock() < self._rests_until:
            return None
        is_over = threading.Event()
        remove_all = functools.partial(self._remove_all, suppression, origin, is_over.is_set)
        try:
            async with asyncio.timeout(_LIMIT_S):
                for pause_s in (*_PAUSES_S, None):
                    try:
                        return await asyncio.get_running_loop().run_in_executor(self._threads, remove_all)
                    except (BotoCoreError, ClientError) as error:
                        self._reason = str(error)
                        if pause_s is None or not may_answer_later(error):
                            break
                        await self._sleep(pause_s)
        except TimeoutError:
            self._reason = f"no answer for {_LIMIT_S:g} s"
        finally:
            # What still runs in a thread must remove nothing that is written from now on.
            is_over.set()
        self._rests_until = self._clock() + _REST_S
        return None

    def _remove_all(self, suppression: Suppression, origin: ClaimOrigin, is_over: Callable[[], bool]) -> RemovalCounts:
        removed, stay, client = 0, 0, self._client.get()
        for key in list(covered_keys(client, self._config, suppression)):
            if is_over():
                break
            stored = origin_of(client, self._config.bucket, key)
            if stored is not None and stored.is_behind(origin):
                stay += 1
                continue
            if is_over():
                break  # the store took its time to answer: what is there now may be another event's
            write_mark(client, self._config.bucket, key, suppression, origin.position)
            if is_over():
                break  # likewise
            client.delete_object(Bucket=self._config.bucket, Key=key)
            removed += 1
        return RemovalCounts(removed, stay)


def covered_keys(client: "S3Client", config: ClaimCheck, suppression: Suppression) -> Iterator[str]:
    """The keys of stored payloads that are suppressed, by their names alone. Raises what botocore raises."""
    prefix = page_prefix(config.prefix, suppression.wiki_id, suppression.page_id)
    if len(prefix.encode()) > MOST_KEY_BYTES:
        return  # nothing can have been stored there, and a store may refuse the question
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=config.bucket, Prefix=prefix)
    for page in pages:
        for item in page.get("Contents", ()):
            revision = revision_in(item["Key"], config.prefix)
            if revision is not None and suppression.covers(revision):
                yield item["Key"]


def write_mark(client: "S3Client", bucket: str, key: str, suppression: Suppression, position: Position) -> None:
    """To be there before a payload is removed; says by which source event. Raises what botocore raises."""
    content = {"suppressed": suppression.scope, "by": str(position)}
    client.put_object(Bucket=bucket, Key=mark_of(key), Body=orjson.dumps(content), ContentType="application/json")
