"""docs/extend.md cannot rot: its examples are loaded, and what they add is known to all that lists or checks it.

In a process of its own for each question, since what is registered stays.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.extend_page import examples, write_examples
from tests.unit.pipeline.least_config import write_config

# One process runs them, which prepares them once.
pytestmark = pytest.mark.xdist_group("extend page")

Run = Callable[..., "subprocess.CompletedProcess[str]"]
CHECKED = """
import json, sys
from pathlib import Path

from devkit.faults.listing import in_short
from devkit.faults.registry import FAULTS
from devkit.report.schema import schemas
from devkit.scenario.resolve import resolve
from devkit.programs.places import NOWHERE
from devkit.scenario.load import load_scenario
from located_config.extension import loaded_with
from located_config.registry import additions

scenarios = {path.name: load_scenario(path) for path in sorted(Path(sys.argv[1]).glob("*.yaml"))}
print(json.dumps({
    "scenarios": sorted(scenarios),
    "added": sorted((one.kind, one.name, Path(one.place.rpartition(":")[0]).name) for one in additions()),
    "schema": {path.name: text for path, text in schemas().items()},
    "command": resolve(scenarios["script.yaml"]).main.command,
    "topics": resolve(scenarios["page_size.yaml"]).arms["fixed"].main.configured.topics.names(),
    "listed": in_short(FAULTS["connections"]),
    "for the mock": [Path(one.source).name for one in loaded_with("fault of the mock")],
}))
"""

IN_DRIVER = """
import sys
from pathlib import Path

from pyspark import cloudpickle

from pipeline.worker import spark_task as task
from pipeline.config.pipeline_config import MediaWiki, PipelineConfig, Sink, Source
from pipeline.jobs.extensions import load_extensions

load_extensions(["./page_size.py"])
config = PipelineConfig.model_validate({
    "job": "page-size",
    "source": {"bootstrap_servers": "127.0.0.1:1"},
    "sink": {"bootstrap_servers": "127.0.0.1:1"},
    "mediawiki": {"endpoint": "http://127.0.0.1:1"},
    "checkpoint": "nowhere",
    "deferral": {"policy": "none"},
})
Path(sys.argv[1]).write_bytes(cloudpickle.dumps(task.enrich(config, workers=1)))
"""
IN_WORKER = """
import pickle, sys
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

message = {"topic": ["t"], "partition": [0], "offset": [0], "key": [b"k"], "value": [b"{"]}
batch = pa.RecordBatch.from_pydict(message | {"timestamp": pa.array([datetime.now(UTC)], pa.timestamp("us", tz="UTC"))})
for records in pickle.loads(Path(sys.argv[1]).read_bytes())(iter([batch])):
    print(records.column("topic").to_pylist(), records.column("value")[0].as_py().decode())
"""

WITH_ANOTHER_ID = """
import orjson
from types import SimpleNamespace as Of

import link_count_truth
from devkit.observe.expected_output.truth import WikiAnswers

def body(wiki, path):
    return b'{"source": "[[a]] [[b]]"}'

truth = link_count_truth.LinkCountTruth(Of(sink=Of(topic="out")), WikiAnswers(html=None, body=body))
source = {"dt": "2026-03-02T09:00:00Z", "meta": {"id": "e"}, "revision": {"rev_id": 5}}
expected = Of(page=Of(wiki="enwiki"), latest_revision=5)
output = truth.output(Of(value=orjson.dumps(source), entry=Of(expected=expected)))
for id_ in (output.value["meta"].get("id"), "drawn"):
    meta = {"stream": "out", "id": id_, "dt": source["dt"]}
    value = orjson.dumps({"meta": meta, "rev_id": 5, "links": 2})
    print(output.difference(value, body_removed=False) is None)
"""

OF_NO_MODEL = """
from types import SimpleNamespace as Of

import page_size

print(page_size.PageSizeJob(None, None).wants(Of(content_model=None, kind="delete")))
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("extend")
    write_examples(found)
    return found


@pytest.fixture(scope="module")
def run(directory: Path) -> Run:
    def run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """A Python process in the directory of the examples."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=directory,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env=os.environ | environment,
        )

    return run


@pytest.fixture(scope="module")
def checked(run: Run, directory: Path) -> dict[str, object]:
    ended = run("-c", CHECKED, str(directory))
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)  # type: ignore[no-any-return]


def test_there_is_one_of_each_kind(checked: dict[str, object]) -> None:
    assert checked["added"] == [
        ["expectation", "error_share", "error_share.py"],
        ["fault of the mock", "maintenance", "maintenance.py"],
        ["fault on a part", "connections", "connections.py"],
        ["generator of events", "recount", "link_count_truth.py"],
        ["job", "link-count", "link_count.py"],
        ["job", "page-size", "page_size.py"],
        ["kind of program", "script", "script.py"],
        ["truth of a job", "link-count", "link_count_truth.py"],
    ]


def test_each_has_a_scenario(checked: dict[str, object]) -> None:
    scenarios = {name: text for name, text in examples().items() if name.endswith(".yaml")}
    assert checked["scenarios"] == sorted(scenarios)
    files = [name for name in examples() if name.endswith(".py")]
    assert [name for name in files if not any(f"./{name}" in text for text in scenarios.values())] == []


def test_schemas_know_what_they_add(checked: dict[str, dict[str, str]]) -> None:
    scenario, pipeline = checked["schema"]["scenario.schema.json"], checked["schema"]["pipeline.schema.json"]
    assert [name for name in ("maintenance", "connections", "error_share") if f'"{name}"' not in scenario] == []
    assert '"page-size"' in pipeline


def test_a_scenario_uses_them(checked: dict[str, str]) -> None:
    assert checked["command"].endswith(" -u my_pipeline.py")
    assert {"acme.page_size.v1", "acme.page_size.error", "acme.page_size.deferred"} < set(checked["topics"])
    assert "a neighbour holds connections" in checked["listed"]


def test_the_mock_gets_only_what_concerns_it(checked: dict[str, object]) -> None:
    assert checked["for the mock"] == ["maintenance.py"]


def test_a_fault_of_the_mock_needs_no_kit(run: Run) -> None:
    program = "import sys; sys.modules['devkit'] = None; from mockapi.__main__ import main; sys.exit(main())"
    ended = run("-c", program, "faults", "maintenance", "--extend", "./maintenance.py")
    assert ended.returncode == 0, ended.stderr
    assert "  back_in  duration (required)\n" in ended.stdout


def test_devkit_lists_faults_of_both_sorts(run: Run) -> None:
    for file, output in (("maintenance", "the maintenance page"), ("connections", "a neighbour holds connections")):
        ended = run("-m", "devkit.cli.main", "faults", file, "--extend", f"./{file}.py")
        assert output in ended.stdout, ended.stderr


def test_the_variable_does_as_the_option(run: Run, directory: Path) -> None:
    ended = run("-m", "mockapi", "faults", "maintenance", ENRICHMENT_EXTEND=f"{directory}/maintenance.py")
    assert "the maintenance page" in ended.stdout, ended.stderr


def test_a_job_is_known_to_the_pipeline(run: Run) -> None:
    ended = run("-m", "pipeline", "--extend", "./page_size.py", "run", "page-siez", "--config", "x.yaml")
    assert "there is no job 'page-siez'; did you mean 'page-size'?" in ended.stderr
    assert run("-m", "pipeline", "run", "page-size", "--config", "x.yaml").returncode == 2


def test_a_configuration_of_the_job_is_valid_with_the_extension(run: Run, directory: Path) -> None:
    write_config(directory, job="page-size")
    ended = run("-m", "pipeline", "--extend", "./page_size.py", "check", "pipeline.yaml")
    assert ended.stdout.startswith("pipeline.yaml: job page-size, from "), ended.stderr
    assert "there is no job 'page-size'" in run("-m", "pipeline", "check", "pipeline.yaml").stderr


def test_the_truth_notices_an_id_that_is_drawn(run: Run) -> None:
    """No repeat is needed for that."""
    ended = run("-c", WITH_ANOTHER_ID)
    assert ended.stdout.split() == ["True", "False"], ended.stderr


def test_a_job_passes_a_delete_without_slots(run: Run) -> None:
    """An example that filters it is copied, and then loses events that every consumer has to see."""
    ended = run("-c", OF_NO_MODEL)
    assert ended.stdout.split() == ["True"], ended.stderr


def test_a_job_is_known_to_a_soak(run: Run) -> None:
    """Which refuses this one before anything starts: nothing says what its outputs must be."""
    soak = ("-m", "devkit.cli.main", "soak", "--for", "1m", "--set", "pipeline.job=page-size")
    ended = run(*soak, "--extend", "./page_size.py")
    assert ended.returncode == 2
    assert "no truth is registered for its job" in ended.stderr
    assert "there is no job 'page-size'" in run(*soak).stderr


def test_a_python_worker_finds_the_job_by_the_environment_alone(run: Run, directory: Path) -> None:
    """What Spark hands it is a pickled function with the configuration; here a message that is no event."""
    made = run("-c", IN_DRIVER, "function.pickle")
    assert made.returncode == 0, made.stderr
    ended = run("-c", IN_WORKER, "function.pickle", ENRICHMENT_EXTEND=f"{directory}/page_size.py")
    assert ended.stdout.startswith("['acme.page_size.error'] {"), ended.stderr
    assert "there is no job 'page-size'" in run("-c", IN_WORKER, "function.pickle").stderr


def test_what_is_wrong_is_said_with_its_place_in_the_scenario(run: Run, directory: Path) -> None:
    text = examples()["maintenance.yaml"].replace("[./maintenance.py]", "[./maintenance.py, ./no.py]")
    (directory / "broken.yml").write_text(text)
    ended = run("-m", "devkit.cli.main", "scenario", "check", "broken.yml")
    assert ended.returncode == 2
    assert f"error: broken.yml:4:28: extend[1]: {directory}/no.py: there is no such file" in ended.stderr
