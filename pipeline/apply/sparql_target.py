"""A store by SPARQL 1.1 Protocol: updates and queries over HTTP, sent until they are answered.

    no answer · 5xx · 408 · 425 · 429   the same request again, after a pause, for as long as it takes; with
                                        Retry-After not before that, or five minutes
    401 · 403                           the login is refused: the process ends
    any other status but 2xx            the store will not take it: the process ends

An update whose answer did not come may have been executed, or be executed later, and is sent again all the same: it has
to be one that is right however often and whenever it is executed. https://www.w3.org/TR/sparql11-protocol/
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import ClassVar, Protocol

import orjson
import urllib3

from pipeline import log
from pipeline.apply.store_login import StoreLogin, without_user
from pipeline.config.apply_config import Apply
from pipeline.errors import PipelineError
from pipeline.events import TripleStoreBack, TripleStoreDown
from pipeline.fetch.header_fields import retry_after_s
from pipeline.outage_clock import OutageClock

Row = Mapping[str, str]
"""A solution of a SELECT: the text of each variable's value."""

_UPDATE = {"Content-Type": "application/sparql-update; charset=utf-8"}
_QUERY = {"Content-Type": "application/sparql-query; charset=utf-8", "Accept": "application/sparql-results+json"}
_PROTOCOL = {"endpoint": "SPARQL 1.1 Update", "query_endpoint": "SPARQL 1.1 queries"}
_USER_AGENT = {"User-Agent": "enrichment-apply"}
_FILE = "apply.header_file"
_CONNECT_S = 5.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 10.0
_LONGEST_ASKED_S = 300.0
_EXCERPT_CHARACTERS = 300
_PASSING = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})


@dataclass(frozen=True, slots=True)
class _Fields:
    """The headers of a response, as `retry_after_s` reads them."""

    headers: urllib3.HTTPHeaderDict

    def getall(self, key: str, default: tuple[()], /) -> Sequence[str]:
        """The lines of a field."""
        return self.headers.getlist(key, default)


class StoreRequestRefusedError(PipelineError):
    """The store will not execute a request, now or later."""

    exit_code: ClassVar[int] = 2


class WaitEndedError(Exception):
    """A stop was requested while a store that is down was waited for; the request may or may not be executed."""


class UpdateTarget(Protocol):
    """A store. Its methods wait while it is down; they raise StoreRequestRefusedError and WaitEndedError."""

    def update(self, text: str) -> None:
        """Execute a SPARQL 1.1 Update request, at least once; it may be executed again later."""

    def select(self, text: str) -> list[Row]:
        """The solutions of a SELECT."""


class SparqlTarget:
    """`pause` waits for a number of seconds, and says whether the next attempt shall follow."""

    def __init__(
        self, settings: Apply, pause: Callable[[float], bool], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings, self._pause = settings, pause
        self._login = StoreLogin(settings)
        timeout_s = settings.timeout.total_seconds()
        self._pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(connect=min(_CONNECT_S, timeout_s), read=timeout_s), retries=False
        )
        self._outage = OutageClock(clock)

    @property
    def is_down(self) -> bool:
        """Whether the last attempt failed, so that the request at hand is sent again."""
        return self._outage.is_running

    def update(self, text: str) -> None:
        """Execute the request; returns when the store has answered that it is done."""
        self._post("endpoint", self._settings.endpoint, text, _UPDATE)

    def select(self, text: str) -> list[Row]:
        """The solutions of the query. Raises StoreRequestRefusedError also for an answer that is none."""
        url = self._settings.effective_query_endpoint
        answer = self._post("query_endpoint", url, text, _QUERY)
        try:
            bindings = orjson.loads(answer)["results"]["bindings"]
            return [{name: term["value"] for name, term in binding.items()} for binding in bindings]
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            raise StoreRequestRefusedError(
                f"{without_user(url)} did not answer a query with solutions in JSON; its answer begins "
                f"{_excerpt(answer)!r}",
                hint="apply.query_endpoint has to be the store's URL for SPARQL 1.1 queries",
            ) from None

    def close(self) -> None:
        """Ends the connections."""
        self._pool.clear()

    def _post(self, key: str, configured_url: str, text: str, headers: Mapping[str, str]) -> bytes:
        """`key` is that of the URL in the section `apply`."""
        pause_s = _FIRST_PAUSE_S
        url = without_user(configured_url)
        while True:
            login = self._login.headers(configured_url)
            try:
                response = self._pool.request(
                    "POST", url, body=text.encode(), headers={**_USER_AGENT, **login, **headers}
                )
            except (urllib3.exceptions.HTTPError, OSError) as error:
                reason, asked_s = f"{type(error).__name__}: {error}", 0.0
            else:
                if HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
                    self._log_recovery(url)
                    return response.data
                reason = f"HTTP {response.status}: {_excerpt(response.data)}"
                asked_s = retry_after_s(_Fields(response.headers), lambda: datetime.now(UTC)) or 0.0
                if response.status < HTTPStatus.INTERNAL_SERVER_ERROR and response.status not in _PASSING:
                    raise StoreRequestRefusedError(
                        f"{url} does not take a request of {len(text)} characters that begins "
                        f"{text[:_EXCERPT_CHARACTERS]!r}: {reason}",
                        hint=_hint(response.status, key, has_login=bool(login)),
                    )
            self._log_outage(url, reason)
            if not self._pause(max(pause_s, min(asked_s, _LONGEST_ASKED_S))):
                raise WaitEndedError
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _log_outage(self, url: str, reason: str) -> None:
        if (seconds := self._outage.fail()) is not None:
            log.emit(TripleStoreDown(endpoint=url, seconds=seconds, reason=reason))

    def _log_recovery(self, url: str) -> None:
        if (seconds := self._outage.end()) is not None:
            log.emit(TripleStoreBack(endpoint=url, seconds=seconds))


def _hint(status: int, key: str, *, has_login: bool) -> str:
    if status == HTTPStatus.UNAUTHORIZED and has_login:
        return f"the store does not accept the login: look at apply.{key}, apply.username and its password, or {_FILE}"
    if status == HTTPStatus.UNAUTHORIZED:
        return f"the store asks for a login: write apply.username and apply.password_file, or {_FILE}"
    if status == HTTPStatus.FORBIDDEN:
        who = "this login" if has_login else "a client without a login (apply.username, apply.header_file)"
        return f"the store does not grant {_PROTOCOL[key]} to {who}: grant it there"
    return f"apply.{key} has to be the store's URL for {_PROTOCOL[key]}; its log may say more"


def _excerpt(answer: bytes) -> str:
    return answer[:_EXCERPT_CHARACTERS].decode(errors="replace").strip()
