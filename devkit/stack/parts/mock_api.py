"""The mock of MediaWiki's API as a process of its own, and the part of its control interface that the kit needs."""

import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter
from typing_extensions import override

from devkit.errors import PartError
from devkit.guardian import Guardian
from devkit.network_cause import network_cause
from devkit.stack.parts.part import Lead, unproxied
from devkit.stack.parts.part_life import READY, Life, require_running
from devkit.stack.parts.process import ProcessPart
from devkit.stack.ports import LOOPBACK, claim_port
from devkit.waiting import wait_until
from located_config.extension import environment_for
from mockapi.client.mock_client import MockCallError, MockClient, SilentError
from mockapi.rules.model import Rule
from mockapi.wiki.catalog import CatalogPage


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


class MockApi(MockClient):
    """A running mock, which programs under test reach at `endpoint`, maybe through a proxy, and the kit at `direct`.

    All methods raise PartError, and MockSilentError when the mock does not answer.
    """

    def __init__(self, endpoint: str, direct: str | None = None) -> None:
        self.author = f"devkit {secrets.token_hex(8)}"
        super().__init__(endpoint, direct=direct, author=self.author)
        self._state: Mapping[str, Any] | None = None

    @override
    def put_state(self, state: Mapping[str, Any]) -> None:
        super().put_state(state)
        self._state = state

    @override
    def reset(self) -> None:
        super().reset()
        self._state = None

    def replace_pages(self, *, seed: int, catalog: Sequence[CatalogPage]) -> None:
        """Replace pages and empty the journal; rules stay, and begin afresh."""
        self.populate(seed=seed, catalog=catalog, rules=self.current_rules())

    def populate_again(self) -> None:
        """Give a mock that was started again the pages and rules it had; its journal and attempts begin afresh."""
        if self._state is not None:
            super().put_state(self._state)

    def switch(self, rule: str, on: bool) -> None:
        """Switch a rule on or off, also for a mock that is started again. May be called on any thread."""
        # Not on the connection of the others: they may wait for an answer.
        with closing(MockClient(self.endpoint, direct=self.direct, author=self.author)) as other, _as_part_errors():
            other.switch_rule(rule, on=on)
        if self._state is not None:
            rules = [{**entry, "enabled": on} if entry["name"] == rule else entry for entry in self._state["rules"]]
            self._state = {**self._state, "rules": rules}

    def changes_by_others(self) -> tuple[MockChange, ...]:
        """The changes by other clients since this one populated the mock, oldest first."""
        changes = TypeAdapter(list[MockChange]).validate_json(self._call("GET", "/__mock/journal/changes"))
        own = [change for change in changes if change.author == self.author]
        populated = max((change.n for change in own if change.action == "populated"), default=0)
        return tuple(change for change in changes if change.n > populated and change not in own)

    def current_rules(self) -> tuple[Rule, ...]:
        """All that it has, also those that are over."""
        return MockState.model_validate_json(self._call("GET", "/__mock/state")).rules

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

    @override
    def _call(
        self,
        method: str,
        path: str,
        *,
        json: Mapping[str, Any] | None = None,
        params: Mapping[str, str] | None = None,
    ) -> bytes:
        with _as_part_errors():
            return super()._call(method, path, json=json, params=params)


@contextmanager
def _as_part_errors() -> Iterator[None]:
    try:
        yield
    except SilentError as error:
        cause = network_cause(error.__cause__ or error)
        raise MockSilentError(f"mock API did not answer {error.call}: {cause}") from error
    except MockCallError as error:
        raise PartError(str(error), "mock-api") from error


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
