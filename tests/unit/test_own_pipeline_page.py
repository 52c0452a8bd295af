"""What docs/own-pipeline.md gives to copy: a scenario that can be played, and a checkpoint that the kit can read."""

import io
import urllib.request
from collections.abc import Callable
from email.message import Message
from pathlib import Path
from typing import Any, cast
from urllib.error import HTTPError

import boto3
import pytest
from mypy_boto3_s3 import S3Client

from devkit.observe.checkpoint import Checkpoint
from devkit.scenario.load import load_scenario
from tests.own_pipeline_page import CARELESS, HAMMERING, LAGGING, block, careless, lagging, mine
from tests.unit.devkit.observe.fake_s3 import FakeS3

URL = "http://127.0.0.1:1/w"


class Written(FakeS3):
    def put_object(self, *, Bucket: str, Key: str, Body: bytes) -> None:  # noqa: N803 - boto's own names
        self.put(Bucket, Key, Body.decode())


def test_the_kit_reads_the_checkpoint_that_its_lines_write(monkeypatch: pytest.MonkeyPatch) -> None:
    store, written = Written(), {}
    settings = {"DEVKIT_CHECKPOINT": "s3a://bucket/some/prefix", "DEVKIT_SOURCE_TOPIC": "events"}
    for name, value in {**settings, "DEVKIT_S3_ENDPOINT": "http://127.0.0.1:1", "AWS_REGION": "here"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "client", lambda *_, **__: store)
    exec(block("python", "import json"), written)  # the page's own lines
    assert written["begun"]() == (0, {}, None)
    for batch, end in enumerate((20, 40)):
        written["plan"](batch, {0: end, 1: 7})
        if batch == 0:
            written["commit"](batch)
            assert written["begun"]() == (1, {0: 20, 1: 7}, None)
    assert written["begun"]() == (1, {0: 20, 1: 7}, {0: 40, 1: 7})
    checkpoint = Checkpoint(cast(S3Client, store), "bucket", "some/prefix", ("events",))
    assert checkpoint.committed() == {("events", 0): 20, ("events", 1): 7}
    failed = checkpoint.failed_range()
    assert failed is not None
    assert (failed.start, failed.end) == (checkpoint.committed(), {("events", 0): 40, ("events", 1): 7})


@pytest.mark.parametrize(("beginning", "program"), [(HAMMERING, mine), (CARELESS, careless), (LAGGING, lagging)])
def test_its_scenarios_can_be_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beginning: str, program: Callable[[], str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(program())
    file = tmp_path / "scenario.yaml"
    file.write_text(block("yaml", beginning))
    assert load_scenario(file).cause or beginning == HAMMERING
    compile(program(), "mine.py", "exec")


def test_its_counts_are_those_that_a_program_of_other_values_can_meet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").touch()
    file = tmp_path / "hammering.yaml"
    file.write_text(block("yaml", HAMMERING))
    counts = load_scenario(file).expect["fixed"][2].argument
    counted = ", ".join(f"{name}: 0" for name in counts.bounds)
    assert f"audit: {{ {counted} }}" in block("yaml", "audit:")


@pytest.mark.parametrize(("retries", "pauses"), [("at once", []), ("after a pause", [1, 1])])
def test_its_program_asks_again_as_its_arm_says(
    monkeypatch: pytest.MonkeyPatch, retries: str, pauses: list[int]
) -> None:
    program: dict[str, Any] = {"__name__": "mine"}
    exec(mine(), program)  # the page's own lines
    slept: list[int] = []
    answers: list[Any] = [HTTPError(URL, 503, "", Message(), None)] * 2 + [io.BytesIO(b"html")]

    def answer(_request: object, timeout: float) -> Any:
        assert timeout == 60
        found = answers.pop(0)
        if isinstance(found, HTTPError):
            raise found
        return found

    monkeypatch.setenv("RETRIES", retries)
    monkeypatch.setattr(urllib.request, "urlopen", answer)
    program["sleep"] = slept.append
    assert program["answered"](urllib.request.Request(URL), timeout=60).read() == b"html"
    assert slept == pauses
    answers.append(HTTPError(URL, 404, "", Message(), None))
    with pytest.raises(HTTPError, match="404"):
        program["answered"](urllib.request.Request(URL), timeout=60)
