"""The configuration and the checkpoint of a pipeline that runs."""

import os
from pathlib import Path

import pytest

from devkit.debug.apply_lag import apply_config
from devkit.debug.pipeline_place import find_place
from devkit.errors import UsageError
from devkit.programs.places import NOWHERE
from devkit.programs.spark.configuration import CONFIG, configuration
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from tests.unit.devkit.conftest import scenario as scenario
from tests.unit.devkit.observe.fake_s3 import FakeS3

OF_APPLY, OF_A_JOB = '{"apply": {}}', '{"job": "rdf-resolve"}'


def write(file: Path, scenario: Scenario, *, at: float) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(
        CONFIG.dump_json(configuration(NOWHERE, resolve(scenario).arms["fixed"].main.settings), by_alias=True)
    )
    os.utime(file, (at, at))
    return file


def test_that_of_the_arm_that_began_last(tmp_path: Path, scenario: Scenario) -> None:
    (tmp_path / "events.jsonl").touch()
    write(tmp_path / "incident" / "pipeline.yaml", scenario, at=100)
    fixed = write(tmp_path / "fixed" / "pipeline.yaml", scenario, at=200)
    assert find_place(tmp_path / "stack").file == fixed


def test_that_beside_the_logs_of_a_stack_by_itself(tmp_path: Path, scenario: Scenario) -> None:
    file = write(tmp_path / "stack" / "pipeline.yaml", scenario, at=100)
    assert find_place(tmp_path / "stack").file == file


@pytest.mark.parametrize("logs", [None, Path("/nowhere/stack")])
def test_no_pipeline(logs: Path | None) -> None:
    with pytest.raises(UsageError, match="no pipeline was started"):
        find_place(logs)


def test_a_file_of_another_kit(tmp_path: Path) -> None:
    (tmp_path / "pipeline.yaml").write_text("{}")
    with pytest.raises(UsageError, match="is not of this kit"):
        find_place(tmp_path)


def test_topics_by_what_a_person_calls_them(tmp_path: Path, scenario: Scenario) -> None:
    write(tmp_path / "pipeline.yaml", scenario, at=100)
    topics = find_place(tmp_path).topics()
    assert topics["source"] == "mediawiki.page_change.v1"
    assert list(topics) == ["source", "output", "error", "deferred"]


def test_failed_fetches_have_a_topic_of_their_own_where_the_job_has_one(tmp_path: Path) -> None:
    (tmp_path / "pipeline.yaml").write_bytes(CONFIG.dump_json(configuration(NOWHERE, {}, "rdf-resolve"), by_alias=True))
    assert find_place(tmp_path).topics()["fetch-failure"] == "rdf-streaming-updater.fetch-failure"


def test_the_checkpoint_is_read_where_the_pipeline_writes_it(
    tmp_path: Path, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "pipeline.yaml", scenario, at=100)
    store, asked = FakeS3(), []
    store.put("nowhere", "here/offsets/0", 'v1\n{}\n{"mediawiki.page_change.v1": {"0": 12}}')
    store.put("nowhere", "here/commits/0", "v1\n{}")

    def client(endpoint: str, **credentials: str) -> FakeS3:
        asked.append((endpoint, credentials["access_key"]))
        return store

    monkeypatch.setattr("devkit.debug.pipeline_place.s3_client", client)
    checkpoint = find_place(tmp_path).checkpoint("http://127.0.0.1:1", {"DEVKIT_S3_ACCESS_KEY": "theirs"})
    assert checkpoint.committed() == {("mediawiki.page_change.v1", 0): 12}
    assert asked == [("http://127.0.0.1:1", "theirs")]


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"stack/apply/pipeline.yaml": OF_APPLY}, "stack/apply/pipeline.yaml"),
        ({"stack/pipeline.yaml": OF_A_JOB}, None),
        (
            {
                "events.jsonl": "",
                "incident/pipeline.yaml": OF_A_JOB,
                "incident/writer/pipeline.yaml": OF_APPLY,
                "fixed/pipeline.yaml": OF_A_JOB,
                "fixed/writer/pipeline.yaml": OF_APPLY,
                "fixed/other/pipeline.yaml": OF_A_JOB,
            },
            "fixed/writer/pipeline.yaml",
        ),
        # Without a timeline the directory beside the logs is that of other stacks.
        ({"other/apply/pipeline.yaml": OF_APPLY}, None),
    ],
)
def test_the_newest_file_with_its_section(tmp_path: Path, files: dict[str, str], found: str | None) -> None:
    for number, (name, text) in enumerate(files.items()):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (number, number))
    assert apply_config(tmp_path / "stack") == (None if found is None else tmp_path / found)
