"""The mock of MediaWiki's API as a process of its own, and the part of its control interface that the kit needs."""

import secrets
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests
from pydantic import BaseModel, ConfigDict, TypeAdapter

from devkit.errors import PartError
from devkit.guardian import Guardian
from devkit.loopback import loopback_session
from devkit.network_cause import network_cause
from devkit.stack.parts.part import Lead, unproxied
from devkit.stack.parts.part_life import READY, Life, require_running
from devkit.stack.parts.process import ProcessPart
from devkit.stack.ports import LOOPBACK, claim_port
from devkit.waiting import wait_until
from located_config.extension import environment_for
from mockapi.rules.model import Rule
from mockapi.wiki.catalog import CatalogPage

_TIMEOUT_S = 60.0


class RuleCounts(BaseModel):
    """What the journal counted for one rule; times are in seconds since the first request to the wiki.

    Of the requests that it met, those `in_flight` have not ended, and are in none of the other counts.
    """

    requests: int
    in_flight: int = 0
    completed: int
    by_status: dict[str, int] = {}
    changed_by: dict[str, int] = {}
    max_real_bytes: int
    max_wire_bytes: int
    max_content_length: int | None = None
    max_duration_s: float
    first_at_s: float | None = None
    last_at_s: float | None = None


_NOT_MET = RuleCounts(requests=0, completed=0, max_real_bytes=0, max_wire_bytes=0, max_duration_s=0)


class LatencyCounts(BaseModel):
    """How many requests took how long: `counts[n]` up to `le_s[n]` seconds and more than the bound before it.

    What took longer than the last bound is counted with it.
    """

    le_s: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()


class UpstreamCounts(BaseModel):
    """The load on the wiki's parser: `busy` and `queued` now, `max_queued` at most, the rest in all.

    `abandoned` of the finished `parses` had no client waiting any more; `parse_s` is the time of all of them.
    """

    busy: int = 0
    queued: int = 0
    parses: int = 0
    abandoned: int = 0
    parse_s: float = 0
    max_queued: int = 0


class ConnectionCounts(BaseModel):
    """`opened` carried a request to the wiki, the `refused` among these were reset for want of a place."""

    opened: int = 0
    refused: int = 0


class JournalCounts(BaseModel):
    """What the journal counted since the state was set, of requests that have ended.

    `fetches` are first attempts. `clock_s` counts from the first request to the wiki and is None before. `revision`
    counts the changes by the mock's control since its start. `last_at_s` is when the last request came
    in, by that clock.
    """

    clock_s: float | None = None
    requests: int
    fetches: int = 0
    max_attempt: int = 0
    in_flight: int
    by_status: dict[str, int]
    latency: LatencyCounts = LatencyCounts()
    upstream: UpstreamCounts = UpstreamCounts()
    connections: ConnectionCounts = ConnectionCounts()
    rules: dict[str, RuleCounts]
    revision: int = 0
    last_at_s: float | None = None

    def of(self, rule: str) -> RuleCounts:
        """The counts of one rule; all 0 for a rule that was removed."""
        return self.rules.get(rule, _NOT_MET)


class MockState(BaseModel):
    """The rules of the mock's state."""

    rules: tuple[Rule, ...] = ()


class JournalEntry(BaseModel):
    """A request that has ended; `revision` is the one it asked for."""

    wiki: str | None
    revision: int | None


class MockChange(BaseModel):
    """A change by the mock's control, see `mockapi.journal.changes`."""

    model_config = ConfigDict(frozen=True)

    n: int
    at: datetime
    action: str
    rules: tuple[str, ...] = ()
    client: str = ""
    author: str = ""


class MockSilentError(PartError):
    """The mock did not answer at all."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "mock-api")


class MockApi:
    """A running mock, which programs under test reach at `endpoint`, maybe through a proxy, and the kit at `direct`."""

    def __init__(self, endpoint: str, direct: str | None = None) -> None:
        self.endpoint, self.direct = endpoint, direct or endpoint
        self._session = loopback_session()
        self._author = f"devkit {secrets.token_hex(8)}"
        self._session.headers["X-Changed-By"] = self._author
        self._state: Mapping[str, Any] | None = None

    def populate(self, *, seed: int, catalog: Sequence[CatalogPage], rules: Sequence[Rule]) -> None:
        """Replace pages and rules at once, and empty the journal."""
        body = {
            "seed": seed,
            "catalog": TypeAdapter(list[CatalogPage]).dump_python(list(catalog), mode="json"),
            "rules": TypeAdapter(list[Rule]).dump_python(list(rules), mode="json", exclude_unset=True, by_alias=True),
        }
        self._call("PUT", "/__mock/state", json=body)
        self._state = body

    def replace_pages(self, *, seed: int, catalog: Sequence[CatalogPage]) -> None:
        """Replace pages and empty the journal; rules stay, and begin afresh."""
        self.populate(seed=seed, catalog=catalog, rules=self.rules())

    def populate_again(self) -> None:
        """Give a mock that was started again the pages and rules it had; its journal and attempts begin afresh."""
        if self._state is not None:
            self._call("PUT", "/__mock/state", json=self._state)

    def switch(self, rule: str, on: bool) -> None:
        """Switch a rule on or off, also for a mock that is started again. May be called on any thread."""
        path = f"/__mock/rules/{quote(rule, safe='')}"
        with loopback_session() as session:
            session.headers["X-Changed-By"] = self._author
            self._call("PATCH", path, json={"enabled": on}, session=session)
        if self._state is not None:
            rules = [{**entry, "enabled": on} if entry["name"] == rule else entry for entry in self._state["rules"]]
            self._state = {**self._state, "rules": rules}

    def changes_by_others(self) -> tuple[MockChange, ...]:
        """The changes by other clients since this one populated the mock, oldest first."""
        changes = TypeAdapter(list[MockChange]).validate_json(self._call("GET", "/__mock/journal/changes"))
        own = [change for change in changes if change.author == self._author]
        populated = max((change.n for change in own if change.action == "populated"), default=0)
        return tuple(change for change in changes if change.n > populated and change not in own)

    def rules(self) -> tuple[Rule, ...]:
        """All that it has, also those that are over."""
        return MockState.model_validate_json(self._call("GET", "/__mock/state")).rules

    def counts(self) -> JournalCounts:
        """Counts of all requests since the journal was emptied. Raises StackError when the mock does not answer."""
        return JournalCounts.model_validate_json(self._call("GET", "/__mock/journal/counts"))

    def entries(self, rule: str) -> list[JournalEntry]:
        """The requests that met a rule, as far as the journal keeps them: the newest 10,000 of all."""
        answer = self._call("GET", "/__mock/journal", params={"rule": rule})
        return TypeAdapter(list[JournalEntry]).validate_json(answer)

    def truth(self, wiki: str, revision: int) -> str:
        """The HTML that a fetch of this revision brings when it succeeds."""
        return self._call("GET", f"/__mock/truth/revision/{revision}", params={"wiki": wiki}).decode()

    def truth_at(self, wiki: str, path: str) -> bytes:
        """The body that a GET of this path, a query with it, brings when it succeeds."""
        return self._call("GET", "/__mock/truth", params={"wiki": wiki, "path": path})

    def _call(
        self,
        method: str,
        path: str,
        *,
        json: Mapping[str, Any] | None = None,
        params: dict[str, str] | None = None,
        session: requests.Session | None = None,
    ) -> bytes:
        try:
            answer = (session or self._session).request(
                method, self.direct + path, json=json, params=params, timeout=_TIMEOUT_S
            )
        except requests.RequestException as error:
            raise MockSilentError(f"mock API did not answer {method} {path}: {network_cause(error)}") from error
        if not answer.ok:
            text = f"mock API answered {answer.status_code} to {method} {path}: {answer.text[:500]}"
            raise PartError(text, "mock-api")
        return answer.content


def start_mock_api(
    guardian: Guardian, logs: Path, *, seed: int = 0, port: int | None = None, lead: Lead = unproxied
) -> tuple[MockApi, ProcessPart]:
    """Start the mock; returns as soon as it has begun."""
    chosen = claim_port(port, "the mock API")
    address = f"{LOOPBACK}:{chosen}"
    mock = MockApi(f"http://{lead('mock-api', address)}", f"http://{address}")
    argv = [sys.executable, "-m", "mockapi", "--host", LOOPBACK, "--port", str(chosen), "--seed", str(seed)]

    def ready(life: Life) -> None:
        await_mock_api(mock, life)
        await_answer(mock, life)

    return mock, ProcessPart(
        guardian,
        "mock-api",
        argv,
        address=mock.endpoint,
        env=environment_for("fault of the mock"),
        ready=ready,
        restore=mock.populate_again,
        logs=logs,
        split=True,
    )


def await_mock_api(mock: MockApi, life: Life) -> None:
    """Wait until the process has said that it is ready: until then another process may answer at its address."""

    def is_ready() -> bool:
        require_running(life)
        return f"ready on {mock.direct}\n" in life.stdout.read_text()

    wait_until(is_ready, what="the mock API to say that it is ready", deadline=READY, hint=f"its log is {life.stderr}")


def await_answer(mock: MockApi, life: Life) -> None:
    """Wait until the mock answers, and lets us control it. Raises StackError when it does not."""

    def answers() -> bool:
        require_running(life)
        try:
            mock.counts()
        except MockSilentError:
            return False
        return True

    wait_until(
        answers,
        what=f"the mock API to answer at {mock.direct}",
        deadline=READY,
        hint=f"its log is {life.stderr}",
    )
