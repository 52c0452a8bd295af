"""The pipeline's client against the mock's server: pauses that are asked for, and bodies that want to be too much."""

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.client import FetchedText, FetchFailedError, WikiClient
from pipeline.fetch.route import HTML, Route
from pipeline.jobs.content import ContentRoute
from pipeline.records.error_event import Failure
from tests.integration.mockapi.conftest import Mock, start, stop

ROOMS = ("pipeline/fetch",)
MIB = 1024 * 1024
REVISION = 28674
CHILD = Path(__file__).with_name("bounded_client.py")
# What the child may grow by for other reasons: connections, decompressors, the allocator's own.
SLACK_BYTES = 24 * MIB


@pytest.fixture(scope="module")
def shared_mock(pytestconfig: pytest.Config) -> Iterator[Mock]:
    mock = start(pytestconfig.rootpath)
    yield mock
    assert stop(mock) == ""


@pytest.fixture
def mock(shared_mock: Mock) -> Mock:
    """The module's server with its default catalog, no rules and an empty journal."""
    assert shared_mock.ask("/__mock/state", method="PUT", body={"seed": 1}).status == 200
    return shared_mock


class LeastJitter(random.Random):
    def uniform(self, a: float, b: float) -> float:
        return a


def fetch(mock: Mock, *, limit_s: float, route: Route = HTML) -> FetchedText | Failure:
    async def run() -> FetchedText | Failure:
        config = PipelineConfig.model_validate(
            {
                "source": {"bootstrap_servers": "127.0.0.1:1"},
                "sink": {"bootstrap_servers": "127.0.0.1:1"},
                "mediawiki": {"endpoint": f"http://127.0.0.1:{mock.port}"},
                "checkpoint": "unused",
            }
        )
        client = WikiClient(config, clock=time.monotonic, now=lambda: datetime.now(UTC), jitter=LeastJitter())
        try:
            deadline = client.deadline(limit_s)
            return await client.fetch("enwiki", REVISION, request_id="event:latest", deadline=deadline, route=route)
        except FetchFailedError as error:
            return error.failure
        finally:
            await client.close()

    return asyncio.run(run())


@pytest.mark.parametrize("form", ["seconds", "date"])
@pytest.mark.parametrize("code", [429, 503])
def test_a_pause_that_is_asked_for_is_kept_in_either_form(mock: Mock, form: str, code: int) -> None:
    """A date has whole seconds, so up to one of the two may be over when it is read."""
    status = {"code": code, "retry_after": "2s", "retry_after_as": form}
    mock.rules({"name": "busy", "when": {}, "do": {"status": status}, "times": 1})
    started = time.monotonic()
    assert isinstance(fetch(mock, limit_s=30), FetchedText)
    assert time.monotonic() - started >= (2 if form == "seconds" else 1)
    assert [entry["status"] for entry in mock.journal()] == [code, 200]


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_pause_beyond_the_deadline_is_not_begun(mock: Mock, form: str) -> None:
    status = {"code": 429, "retry_after": "1h", "retry_after_as": form}
    mock.rules({"name": "busy", "when": {}, "do": {"status": status}, "times": 1})
    failure = fetch(mock, limit_s=30)
    assert isinstance(failure, Failure)
    assert failure.error_type == "deadline_exceeded"
    assert len(mock.journal()) == 1


CONTENT = ContentRoute(5, unknown_is_final=True)


@pytest.mark.parametrize(
    ("route", "code", "body", "statuses", "error_type"),
    [
        (HTML, 403, '{"errorKey":"rest-rate-limit-exceeded"}', [403, 200], None),
        (HTML, 400, '{"errorKey":"rest-html-backend-error","error-keys":["pool-queuefull"]}', [400, 200], None),
        (CONTENT, 403, '{"error":{"code":"actionthrottledtext","info":"no"}}', [403, 200], None),
        (HTML, 404, '\ufeff{"errorKey":"rest-nonexistent-revision"}', [404], "revision_not_found"),
        (HTML, 504, '{"errorKey":"pool-timeout"}', [504], "upstream_error"),
    ],
)
def test_an_error_code_says_whether_to_come_later(
    mock: Mock, route: Route, code: int, body: str, statuses: list[int], error_type: str | None
) -> None:
    mock.rules({"name": "says", "when": {}, "do": {"status": {"code": code, "body": body}}, "times": 1})
    outcome = fetch(mock, limit_s=30, route=route)
    assert (outcome.error_type if isinstance(outcome, Failure) else None) == error_type
    assert [entry["status"] for entry in mock.journal()] == statuses


def many(mock: Mock, max_bytes: int, in_flight_bytes: int, count: int) -> dict[str, Any]:
    revisions = [str(REVISION + 4096 * number) for number in range(count)]
    done = subprocess.run(
        [sys.executable, str(CHILD), str(mock.port), str(max_bytes), str(in_flight_bytes), *revisions],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=CHILD.parents[2],
        env={"PYTHONPATH": str(CHILD.parents[2])},
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["warm_up"] == "fetched"
    return result


def test_decompression_bombs_cost_neither_memory_nor_disk(mock: Mock) -> None:
    """Four of 1 GiB at once: of each a megabyte is in memory, and no file grows beyond the cut."""
    bomb = {"bomb": "1GiB", "encoding": "gzip"}
    mock.rules({"name": "bomb", "when": {"revision": [REVISION + 4096 * n for n in range(4)]}, "do": {"body": bomb}})
    result = many(mock, 32 * MIB, 256 * MIB, 4)
    assert result["outcomes"] == ["body_too_large"] * 4
    assert result["grown_bytes"] < 4 * MIB + SLACK_BYTES


def test_large_pages_at_once_are_in_memory_within_the_bound(mock: Mock) -> None:
    """Twenty of 12 MiB, which is 240 MiB: in memory are 16 MiB, and one body more as it becomes text."""
    revisions = [REVISION + 4096 * n for n in range(20)]
    mock.rules({"name": "large", "when": {"revision": revisions}, "do": {"body": {"size": "12MiB"}}})
    result = many(mock, 64 * MIB, 16 * MIB, 20)
    assert result["outcomes"] == ["fetched"] * 20
    assert result["grown_bytes"] < (16 + 2 * 12) * MIB + SLACK_BYTES, "more in memory than the bound allows"
