"""Claim checks: a payload too large for a record goes to the object store, its reference into Kafka headers.

The payload is the value the record would have had. Its key ends in its SHA-256, so a replay writes the same object
again and nothing else (`claim_key`); it is written before the event that names it, and says by which event
(`claim_origin`).

A store that is down holds the record, and with it the lane, until the store is back: nothing is dropped, the lag
stays in the source, and both are logged. A batch that waits for longer than its budget defers them, up to the
ledger's bound; one that then waits for longer than `stall_timeout` ends the process, whose restart waits again.
What waiting cannot mend (no such bucket, no right to write) ends the query at once.
"""

import asyncio
import hashlib
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from pipeline import log
from pipeline.config.pipeline_config import ClaimCheck
from pipeline.errors import PipelineError
from pipeline.events import ClaimStoreBack, ClaimStoreDown
from pipeline.outage_clock import OutageClock
from pipeline.records.claim_key import PageRevision, key_of
from pipeline.records.claim_origin import ClaimOrigin, origin_of
from pipeline.records.record import Headers

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

CONTENT_TYPE = "application/json"
KEY_HEADER = "claim-check-key"
"""Only records that refer to a claim check have it."""

BUCKET_HEADER = "claim-check-bucket"
_LENGTH_HEADER = "claim-check-length"
_SHA256_HEADER = "claim-check-sha256"
_CONTENT_TYPE_HEADER = "claim-check-content-type"

_CONNECT_S, _ANSWER_S = 5, 30
_TRIES = 2
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 10.0
# Answers of a 4xx status that are about the connection, or about another request to the same object, and not about this
# one: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
_PASSING_CODES = frozenset({"BadDigest", "IncompleteBody", "OperationAborted", "RequestTimeout", "SlowDown"})


@dataclass(frozen=True, slots=True)
class Claim:
    """A reference to a stored payload, with its length and hash."""

    bucket: str
    key: str
    length_bytes: int
    sha256: str

    def headers(self) -> Headers:
        """Bucket, key, length in bytes, SHA-256 in hexadecimal and content type of the payload."""
        return (
            (BUCKET_HEADER, self.bucket.encode()),
            (KEY_HEADER, self.key.encode()),
            (_LENGTH_HEADER, str(self.length_bytes).encode()),
            (_SHA256_HEADER, self.sha256.encode()),
            (_CONTENT_TYPE_HEADER, CONTENT_TYPE.encode()),
        )

    @classmethod
    def of_headers(cls, headers: Mapping[str, bytes]) -> "Claim | None":
        """What `headers()` says; None without a claim check. Raises KeyError or ValueError for one that is no whole."""
        if KEY_HEADER not in headers:
            return None
        return cls(
            headers[BUCKET_HEADER].decode(),
            headers[KEY_HEADER].decode(),
            int(headers[_LENGTH_HEADER]),
            headers[_SHA256_HEADER].decode(),
        )


class StoreDownError(Exception):
    """The store does not answer, or not now: the same payload may be stored later."""


class StoreRefusedError(PipelineError):
    """The store will not take the payload, now or later."""


class ClaimStore:
    """Writes payloads. Credentials come from the environment, as for any S3 client."""

    def __init__(
        self,
        config: ClaimCheck,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._config = config
        self._sleep = sleep
        self._client = SharedClient(config)
        # A store that is down is asked by one record at a time.
        self._asking = asyncio.Lock()
        self._outage = OutageClock(clock)

    async def keep(self, payload: bytes, about: PageRevision | None = None, origin: ClaimOrigin | None = None) -> Claim:
        """As `put`; waits while the store is down, however long that is. Raises StoreRefusedError.

        All calls are made on one event loop. Where what is suppressed is removed, a call that is cancelled ends when
        the store has answered: a payload that came later could come behind its removal, and stay.
        """
        if not self._outage.is_running:
            try:
                return await self._put(payload, about, origin)
            except StoreDownError as error:
                self._log_outage(error)
        pause_s = _FIRST_PAUSE_S
        async with self._asking:
            while True:
                if self._outage.is_running:
                    await self._sleep(pause_s)
                    pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
                try:
                    claim = await self._put(payload, about, origin)
                except StoreDownError as error:
                    self._log_outage(error)
                else:
                    self._log_recovery()
                    return claim

    async def _put(self, payload: bytes, about: PageRevision | None, origin: ClaimOrigin | None) -> Claim:
        given_up = threading.Event()

        def put() -> Claim:
            if given_up.is_set():
                raise StoreDownError("given up before the store was asked")
            return self.put(payload, about, origin)

        writing = asyncio.create_task(asyncio.to_thread(put))
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            given_up.set()
            writing.add_done_callback(_pass_over)
            if self._config.suppressed == "remove":
                await asyncio.wait([writing])
            raise

    def put(self, payload: bytes, about: PageRevision | None = None, origin: ClaimOrigin | None = None) -> Claim:
        """Store a payload for the event `origin`, under a key that says what it is `about`; returns when the store has
        acknowledged it. Blocking: call it in a thread.

        Raises StoreDownError, StoreRefusedError.
        """
        from botocore import exceptions as s3

        digest = hashlib.sha256(payload).hexdigest()
        key = key_of(self._config.prefix, digest, about)
        try:
            latest = self._latest(key, origin) if about is not None and origin is not None else origin
            self._client.get().put_object(
                Bucket=self._config.bucket,
                Key=key,
                Body=payload,
                ContentType=CONTENT_TYPE,
                Metadata={} if latest is None else latest.metadata(),
            )
        except (s3.BotoCoreError, s3.ClientError) as error:
            if may_answer_later(error):
                raise StoreDownError(str(error)) from error
            raise self._refused(len(payload), error) from error
        return Claim(self._config.bucket, key, len(payload), digest)

    def _latest(self, key: str, origin: ClaimOrigin) -> ClaimOrigin:
        """A later event may have stored the same payload, and be repeated after this one: it is the later one's still,
        and no removal between the two may take it.
        """
        if self._config.suppressed == "keep":
            return origin
        origin_stored = origin_of(self._client.get(), self._config.bucket, key)
        return origin_stored if origin_stored is not None and origin_stored.is_behind(origin) else origin

    def _refused(self, length: int, error: Exception) -> StoreRefusedError:
        return StoreRefusedError(
            f"{self._place()} does not take a claim check of {length} bytes: {error}",
            hint="claim_check.bucket has to be there, and the credentials in the environment may write to it",
        )

    def _log_outage(self, error: StoreDownError) -> None:
        if (seconds := self._outage.fail()) is None:
            return
        log.emit(
            ClaimStoreDown(
                store=self._place(),
                seconds=seconds,
                reason=str(error),
                effect="records that need a claim check wait, and the lane with them",
            )
        )

    def _log_recovery(self) -> None:
        if (seconds := self._outage.end()) is not None:
            log.emit(ClaimStoreBack(store=self._place(), seconds=seconds))

    def _place(self) -> str:
        return f"bucket {self._config.bucket} at {self._config.endpoint or 'the default S3 endpoint'}"


def _pass_over(writing: "asyncio.Task[Claim]") -> None:
    """Without it asyncio logs an exception that its caller never retrieved."""
    if not writing.cancelled():
        writing.exception()


def may_answer_later(error: Exception) -> bool:
    """Whether the same request may succeed later, by what botocore has raised for it."""
    from botocore import exceptions as s3

    if isinstance(error, s3.ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return (
            status >= HTTPStatus.INTERNAL_SERVER_ERROR
            or status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
            or error.response.get("Error", {}).get("Code") in _PASSING_CODES
        )
    return isinstance(error, s3.ConnectionError | s3.HTTPClientError) and not isinstance(error, s3.SSLError)


class SharedClient:
    """A client for the store that several threads use; it is made when the first of them asks for it."""

    def __init__(self, config: ClaimCheck) -> None:
        self._config = config
        self._client: S3Client | None = None
        # boto3's clients may be shared by threads, but not made by two at once.
        self._making = threading.Lock()

    def get(self) -> "S3Client":
        """The same one for all."""
        with self._making:
            if self._client is None:
                self._client = store_client(self._config)
            return self._client


def store_client(config: ClaimCheck) -> "S3Client":
    """A client for the store, which gives up in a time that is known."""
    import boto3  # slow to import, and most workers never store a payload
    from botocore.config import Config

    return boto3.client(
        "s3",
        endpoint_url=config.endpoint,
        region_name=config.region,
        config=Config(
            s3={"addressing_style": "path"},
            connect_timeout=_CONNECT_S,
            read_timeout=_ANSWER_S,
            retries={"mode": "standard", "total_max_attempts": _TRIES},
        ),
    )
