"""Controls a running mock from a test: its pages, its rules, and what its journal has."""

import http.client
import json as json_text
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from pydantic import TypeAdapter

from mockapi.client.journal_counts import JournalTotals
from mockapi.journal.entry import Entry
from mockapi.rules.model import Rule
from mockapi.wiki.catalog import CatalogPage

_TIMEOUT_S = 60.0
_POLL_S = 0.02
_ENTRIES = TypeAdapter(list[Entry])
_RULE, _PAGE = TypeAdapter(Rule), TypeAdapter(CatalogPage)


class MockCallError(Exception):
    """The mock refused a call of its control interface, in its own words."""


class SilentError(MockCallError):
    """The mock did not answer the `call`, such as `GET /__mock/rules`; the cause is an OSError or an HTTPException."""

    def __init__(self, direct: str, call: str, cause: Exception) -> None:
        super().__init__(f"mock API at {direct} did not answer {call}: {cause}")
        self.call = call


class MockClient:
    """A running mock. `endpoint` is its address, `http://host:port`; clients under test use it as MediaWiki's.

    May be used on several threads. All methods raise MockCallError.
    """

    def __init__(self, endpoint: str, *, direct: str | None = None, author: str | None = None) -> None:
        """Its control is called at `direct`, by default also at `endpoint`. `author` is who changed something, in the
        mock's list of changes.
        """
        self.endpoint, self.direct = endpoint, direct or endpoint
        self._headers = {} if author is None else {"X-Changed-By": author}
        self._connection = _Connection(self.direct)
        # A client that is not closed leaves no socket to the collector, which would warn of it.
        weakref.finalize(self, self._connection.close)

    def populate(
        self,
        *,
        seed: int = 1,
        catalog: Sequence[CatalogPage | Mapping[str, Any]] | None = None,
        rules: Sequence[Rule | Mapping[str, Any]] = (),
    ) -> None:
        """Replace pages and rules at once, and empty the journal. Without `catalog` the mock has 1,000 pages that
        depend on the seed.
        """
        state: dict[str, Any] = {"seed": seed, "rules": [_rule_json(rule) for rule in rules]}
        if catalog is not None:
            state["catalog"] = [_page_json(page) for page in catalog]
        self.put_state(state)

    def put_state(self, state: Mapping[str, Any]) -> None:
        """The same with the body of `PUT /__mock/state`."""
        self._call("PUT", "/__mock/state", json=state)

    def reset(self) -> None:
        """Pages and rules are those of the mock's start again, and the journal is empty."""
        self._call("POST", "/__mock/reset")

    def rules(self, *rules: Rule | Mapping[str, Any]) -> AbstractContextManager[object]:
        """Add rules after those that are there. `with` removes them at the end of its block; without it they stay until
        `reset` or `populate`.
        """
        with ExitStack() as added:
            for rule in rules:
                document = _rule_json(rule)
                self._call("POST", "/__mock/rules", json=document)
                added.callback(self._remove_rule, document["name"])
            return added.pop_all()

    def switch_rule(self, name: str, *, on: bool) -> None:
        """Switch a rule on or off; it keeps its counts."""
        self._call("PATCH", _rule_path(name), json={"enabled": on})

    def requests(
        self, path: str | None = None, *, rule: str | None = None, status: str | None = None, within: float = 5.0
    ) -> list[Entry]:
        """The requests to the wiki that have ended, oldest first: the newest 10,000 since the journal was emptied.

        `path` is a shell glob such as `/w/rest.php/*`, `rule` the name of a rule that matched, `status` one such as
        `503`, a class such as `5xx`, or `none`. Waits up to `within` seconds for requests in flight to end.
        """
        self._await_idle(within)
        filters = {"path": path, "rule": rule, "status": status}
        wanted = {name: value for name, value in filters.items() if value is not None}
        return _ENTRIES.validate_json(self._call("GET", "/__mock/journal", params=wanted))

    def counts(self) -> JournalTotals:
        """Counts of all requests since the journal was emptied."""
        return JournalTotals.model_validate_json(self._call("GET", "/__mock/journal/counts"))

    def close(self) -> None:
        """Close the connection; another call opens it again."""
        self._connection.close()

    def _await_idle(self, within_s: float) -> None:
        deadline = time.monotonic() + within_s
        while json_text.loads(self._call("GET", "/__mock/journal/in-flight")) and time.monotonic() < deadline:
            time.sleep(_POLL_S)

    def _remove_rule(self, name: str) -> None:
        present = json_text.loads(self._call("GET", "/__mock/rules"))
        # It is gone after a reset inside of the block.
        if any(rule["name"] == name for rule in present):
            self._call("DELETE", _rule_path(name))

    def _call(
        self,
        method: str,
        path: str,
        *,
        json: Mapping[str, Any] | None = None,
        params: Mapping[str, str] | None = None,
    ) -> bytes:
        target = f"{path}?{urlencode(params)}" if params else path
        body = None if json is None else json_text.dumps(json).encode()
        headers = self._headers if body is None else {**self._headers, "Content-Type": "application/json"}
        try:
            status, content = self._connection.ask(method, target, body, headers)
        except (OSError, http.client.HTTPException) as error:
            raise SilentError(self.direct, f"{method} {path}", error) from error
        if status >= 400:
            raise MockCallError(f"mock API answered {status} to {method} {path}: {_refusal(content)}")
        return content


class _Connection:
    """One connection that is kept open, for several threads."""

    def __init__(self, endpoint: str) -> None:
        self._address = urlsplit(endpoint).netloc
        self._lock = threading.Lock()
        self._open: http.client.HTTPConnection | None = None

    def ask(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Status and body. On the open connection, as a rule may refuse new ones; on a new one if the mock has closed
        it. Raises OSError or HTTPException.
        """
        with self._lock:
            if self._open is not None:
                try:
                    return self._exchange(self._open, method, target, body, headers)
                except ConnectionError:  # also http.client's RemoteDisconnected
                    pass
            self._open = http.client.HTTPConnection(self._address, timeout=_TIMEOUT_S)
            return self._exchange(self._open, method, target, body, headers)

    def close(self) -> None:
        with self._lock:
            self._disconnect()

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        body: bytes | None,
        headers: Mapping[str, str],
    ) -> tuple[int, bytes]:
        try:
            connection.request(method, target, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except BaseException:
            self._disconnect()
            raise

    def _disconnect(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None


def _rule_path(name: str) -> str:
    return f"/__mock/rules/{quote(name, safe='')}"


def _rule_json(rule: Rule | Mapping[str, Any]) -> dict[str, Any]:
    """As it was written; of a subclass, the part that the mock knows."""
    if isinstance(rule, Rule):
        return dict(_RULE.dump_python(rule, mode="json", by_alias=True, exclude_unset=True, warnings=False))
    return dict(rule)


def _page_json(page: CatalogPage | Mapping[str, Any]) -> dict[str, Any]:
    return dict(_PAGE.dump_python(page, mode="json")) if isinstance(page, CatalogPage) else dict(page)


def _refusal(content: bytes) -> str:
    """The problems with their places and remedies, one after the other; another answer as it is."""
    try:
        problems = json_text.loads(content)
        return "; ".join(
            ": ".join(str(problem[part]) for part in ("path", "problem", "hint") if problem.get(part))
            for problem in problems
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return content[:500].decode(errors="replace")
