import http.client
import json
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

READY = "mockapi ready on http://"
START_DEADLINE_S = 30.0
HTTP_DEADLINE_S = 30.0
CONDITION_DEADLINE_S = 20.0


@dataclass(frozen=True)
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def __getitem__(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    @property
    def header_names(self) -> list[str]:
        return [name for name, _ in self.headers]


@dataclass
class Mock:
    """A running `python -m mockapi`."""

    process: subprocess.Popen[str]
    port: int

    def ask(
        self, path: str, *, method: str = "GET", headers: Mapping[str, str] | None = None, body: object = None
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HTTP_DEADLINE_S)
        try:
            connection.putrequest(method, path, skip_host="Host" in (headers or {}), skip_accept_encoding=True)
            payload = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            if payload:
                connection.putheader("Content-Length", str(len(payload)))
            connection.endheaders(payload or None)
            response = connection.getresponse()
            return Answer(response.status, response.getheaders(), response.read())
        finally:
            connection.close()

    def page(self, revision: int | str, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.ask(f"/w/rest.php/v1/revision/{revision}/html", headers=named)

    def rules(self, *rules: dict[str, Any]) -> None:
        answer = self.ask("/__mock/rules", method="PUT", body=list(rules))
        assert answer.status == 200, answer.body

    def journal(self, query: str = "") -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = self.ask(f"/__mock/journal{query}").json
        return entries

    def ended(self, rule: str = "fault") -> dict[str, Any]:
        """The journal's entry of the one request that `rule` met, once it has ended."""
        self.until("the request is in the journal", lambda: len(self.journal(f"?rule={rule}")) == 1)
        return self.journal(f"?rule={rule}")[0]

    def until_in_flight(self, count: int) -> None:
        self.until(f"{count} in flight", lambda: len(self.ask("/__mock/journal/in-flight").json) == count)

    def counts(self) -> dict[str, Any]:
        counts: dict[str, Any] = self.ask("/__mock/journal/counts").json
        return counts

    def until(self, condition: str, holds: Callable[[], bool]) -> None:
        """Asks again until `holds`; fails with the name of the condition."""
        deadline = time.monotonic() + CONDITION_DEADLINE_S
        while not holds():
            if time.monotonic() > deadline:
                pytest.fail(f"not within {CONDITION_DEADLINE_S} s: {condition}")


def start(root: Path, *arguments: str) -> Mock:
    process = subprocess.Popen(
        [sys.executable, "-m", "mockapi", "--port", "0", *arguments],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    readable, _, _ = select.select([process.stdout], [], [], START_DEADLINE_S)
    line = process.stdout.readline() if readable else ""
    if not line.startswith(READY):
        process.kill()
        pytest.fail(f"no ready line within {START_DEADLINE_S} s: {line!r} {process.communicate()[1]}")
    return Mock(process, int(line.rsplit(":", 1)[1]))


def stop(mock: Mock) -> str:
    """Ends the process; returns what it said on stderr."""
    if mock.process.poll() is None:
        mock.process.terminate()
    try:
        return mock.process.communicate(timeout=START_DEADLINE_S)[1]
    except subprocess.TimeoutExpired:
        mock.process.kill()
        mock.process.communicate()
        raise


@pytest.fixture
def start_mock(pytestconfig: pytest.Config) -> Iterator[Callable[..., Mock]]:
    started: list[Mock] = []

    def begin(*arguments: str) -> Mock:
        started.append(start(pytestconfig.rootpath, *arguments))
        return started[-1]

    yield begin
    for mock in started:
        stop(mock)


@pytest.fixture(scope="module")
def shared_mock(pytestconfig: pytest.Config) -> Iterator[Mock]:
    mock = start(pytestconfig.rootpath)
    yield mock
    assert stop(mock) == ""


@pytest.fixture
def mock(shared_mock: Mock) -> Mock:
    """The module's server with its default catalog, no rules and an empty journal."""
    answer = shared_mock.ask("/__mock/state", method="PUT", body={"seed": 1})
    assert answer.status == 200
    return shared_mock
