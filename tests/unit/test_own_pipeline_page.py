"""What docs/own-pipeline.md gives to copy: a scenario that can be played, and a checkpoint that the kit can read."""

import re
from pathlib import Path
from typing import cast

import boto3
import pytest
from mypy_boto3_s3 import S3Client

from devkit.observe.checkpoint import Checkpoint
from devkit.scenario.load import load_scenario
from tests.unit.devkit.observe.fake_s3 import FakeS3

PAGE = (Path(__file__).parents[2] / "docs" / "own-pipeline.md").read_text()


def block(language: str, beginning: str) -> str:
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (found,) = [one for one in blocks if one.startswith(beginning)]
    return str(found)


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
    for batch, end in enumerate((20, 40)):
        written["plan"](batch, {0: end, 1: 7})
        if batch == 0:
            written["commit"](batch)
    checkpoint = Checkpoint(cast(S3Client, store), "bucket", "some/prefix", ("events",))
    assert checkpoint.committed() == {("events", 0): 20, ("events", 1): 7}
    failed = checkpoint.failed_range()
    assert failed is not None
    assert (failed.start, failed.end) == (checkpoint.committed(), {("events", 0): 40, ("events", 1): 7})


def test_its_scenario_can_be_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").touch()
    file = tmp_path / "hammering.yaml"
    file.write_text(block("yaml", "# hammering.yaml"))
    counts = load_scenario(file).expect["fixed"][2].argument
    told = ", ".join(f"{name}: 0" for name in counts.bounds)
    assert f"audit: {{ {told} }}" in block("yaml", "audit:")
