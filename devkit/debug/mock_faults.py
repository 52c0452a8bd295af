"""The faults of a running mock, through its control API: which are effective, put one in, take one out.

A fault is sent as it was written, and the mock checks it: what it says of place, problem and hint is what a person
reads. So this knows nothing of the rule language but where a rule's name stands.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import orjson
import requests
from pydantic import BaseModel, TypeAdapter, ValidationError

from devkit.errors import StackError, UsageError
from devkit.loopback import loopback_session
from devkit.network_cause import network_cause
from mockapi.client.journal_counts import JournalTotals, RuleTotals

_TIMEOUT_S = 10.0

Document = Mapping[str, Any]
"""A rule as it is written: `name`, `when`, `do`."""


class _Problem(BaseModel):
    path: str = ""
    problem: str
    hint: str | None = None


class _Status(BaseModel):
    """The status of a rule as the mock reports it."""

    rule: dict[str, Any]
    phase: str
    ttl_remaining_s: float | None = None
    times_remaining: int | None = None


class MockFault(BaseModel):
    """A rule and what it did. `last_s_ago` counts from now to the last request it met, None when none did.

    `phase` is "effective", or why it is not: "expired", "spent", "switched off". What is left of its time, in seconds,
    and how often it may still fire are None for no end.
    """

    name: str
    when: dict[str, Any] = {}
    do: dict[str, Any] = {}
    counts: RuleTotals
    last_s_ago: float | None = None
    phase: str = "effective"
    ttl_remaining_s: float | None = None
    times_remaining: int | None = None


class FaultControl:
    """The control of the mock at `endpoint`. Raises UsageError for what the mock refuses, StackError else."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._session = loopback_session()
        self._session.headers["X-Changed-By"] = "devkit fault"

    def listed(self) -> list[MockFault]:
        """All rules in the order in which they apply, also those that are over."""
        statuses = TypeAdapter(list[_Status]).validate_json(self._call("GET", "/status"))
        counts = JournalTotals.model_validate_json(self._call("GET", "/journal/counts"))
        return [_fault(status, counts) for status in statuses]

    def add(self, documents: Sequence[Document]) -> list[str]:
        """Add all of them, or none; returns their names, which are made up where there is none."""
        names = {fault.name for fault in self.listed()}
        added: list[str] = []
        for document in documents:
            rule = {**document} if "name" in document else {"name": free_name(document, names), **document}
            try:
                self._call("POST", "/rules", json=rule)
            except (UsageError, StackError):
                for name in added:
                    self.remove(name)
                raise
            added.append(str(rule["name"]))
            names.add(added[-1])
        return added

    def remove(self, name: str) -> None:
        """Remove one; requests that it has matched already keep it."""
        self._call("DELETE", f"/rules/{quote(name, safe='')}")

    def remove_all(self) -> list[str]:
        """Remove all; returns their names."""
        names = [fault.name for fault in self.listed()]
        self._call("DELETE", "/rules")
        return names

    def _call(self, method: str, path: str, *, json: Document | None = None) -> bytes:
        headers = {"Content-Type": "application/json"}
        # A date that YAML made of a name is text again.
        body = None if json is None else orjson.dumps(json, default=str)
        try:
            answer = self._session.request(
                method, f"{self._endpoint}/__mock{path}", data=body, headers=headers, timeout=_TIMEOUT_S
            )
        except requests.RequestException as error:
            raise StackError(
                f"the mock API at {self._endpoint} does not answer: {network_cause(error)}",
                hint="`devkit status` says what is up",
            ) from error
        if answer.ok:
            return answer.content
        raise _refused(answer, f"{method} {path}")


def free_name(document: Document, used: set[str]) -> str:
    """A name that says what the fault does and is easy to type: `status-504`, and `status-504-2` for another."""
    do = document.get("do")
    parts = [f"{fault}-{value}" if isinstance(value, int | str) else str(fault) for fault, value in _items(do)]
    base = "-".join("".join(c if c.isalnum() else "-" for c in part) for part in parts).strip("-") or "fault"
    names = (base if number == 1 else f"{base}-{number}" for number in range(1, len(used) + 2))
    return next(name for name in names if name not in used)


def _items(do: object) -> list[tuple[str, Any]]:
    return list(do.items()) if isinstance(do, Mapping) else []


def _fault(status: _Status, counts: JournalTotals) -> MockFault:
    rule = status.rule
    counted = counts.of(rule["name"])
    last = None
    if counted.last_at_s is not None and counts.clock_s is not None:
        last = max(0.0, counts.clock_s - counted.last_at_s)
    return MockFault(
        name=rule["name"],
        when=rule.get("when") or {},
        do=rule.get("do") or {},
        counts=counted,
        last_s_ago=last,
        phase=status.phase,
        ttl_remaining_s=status.ttl_remaining_s,
        times_remaining=status.times_remaining,
    )


def _refused(answer: requests.Response, request: str) -> UsageError | StackError:
    try:
        problems = TypeAdapter(list[_Problem]).validate_json(answer.content)
    except ValidationError:
        return StackError(f"the mock API answered {answer.status_code} to {request}: {answer.text[:500]}")
    hints = list(dict.fromkeys(problem.hint for problem in problems if problem.hint))
    lines = [f"{problem.path}: {problem.problem}" if problem.path else problem.problem for problem in problems]
    return UsageError("\n".join(lines), hint="; ".join(hints) or None)
