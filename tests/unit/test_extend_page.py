"""docs/extend.md cannot rot: its examples are loaded, and what they add is known to all that lists or checks it."""

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import orjson
import pytest

from devkit.expectations.expectation import Expectation
from devkit.faults.listing import in_short
from devkit.faults.registry import FAULTS
from devkit.observe.expected_output.truth import WikiAnswers
from devkit.report.schema import schemas
from devkit.scenario.load import load_scenario
from devkit.scenario.resolve import resolve
from located_config.extension import loaded_with
from located_config.registry import Kind, additions
from mockapi.rules.model import Do
from tests.unit.command_run import CommandRun, run_command
from tests.unit.extend_page import examples, write_examples
from tests.unit.extension_state import REGISTRIES, restored_registries
from tests.unit.pipeline.least_config import write_config

Run = Callable[..., CommandRun]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("extend")
    write_examples(found)
    return found


@pytest.fixture(autouse=True)
def _unregistered(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In the directory of the examples. Each test begins with none of them registered."""
    monkeypatch.chdir(directory)
    with restored_registries(directory):
        yield


@pytest.fixture
def run(directory: Path) -> Run:
    """A command of the project. What it loads is not known to the next one."""

    def run(program: str, *arguments: str, **environment: str) -> CommandRun:
        with restored_registries(directory):
            return run_command(program, *arguments, **environment)

    return run


@pytest.fixture(scope="module")
def checked(directory: Path) -> dict[str, Any]:
    """What is known once all scenarios are loaded."""
    with contextlib.chdir(directory), restored_registries(directory):
        scenarios = {path.name: load_scenario(path) for path in sorted(directory.glob("*.yaml"))}
        return {
            "scenarios": sorted(scenarios),
            "added": sorted([one.kind, one.name, Path(one.place.rpartition(":")[0]).name] for one in additions()),
            "schema": {path.name: text for path, text in schemas().items()},
            "command": resolve(scenarios["script.yaml"]).main.command,
            "topics": resolve(scenarios["page_size.yaml"]).arms["fixed"].main.configured.topics.names(),
            "listed": in_short(FAULTS["connections"]),
            "for the mock": [Path(one.source).name for one in loaded_with("fault of the mock")],
        }


def test_each_kind_is_forgotten_between_tests(checked: dict[str, Any]) -> None:
    assert {registry.kind for registry in REGISTRIES} == set(get_args(Kind))
    added = {(kind, name) for kind, name, _ in checked["added"]}
    assert {(registry.kind, name) for registry in REGISTRIES for name in registry} & added == set()
    assert not {"maintenance", "error_share"} & (Do.model_fields.keys() | Expectation.model_fields.keys())


def test_there_is_one_of_each_kind(checked: dict[str, Any]) -> None:
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


def test_each_has_a_scenario(checked: dict[str, Any]) -> None:
    scenarios = {name: text for name, text in examples().items() if name.endswith(".yaml")}
    assert checked["scenarios"] == sorted(scenarios)
    files = [name for name in examples() if name.endswith(".py")]
    assert [name for name in files if not any(f"./{name}" in text for text in scenarios.values())] == []


def test_schemas_know_what_they_add(checked: dict[str, Any]) -> None:
    scenario, pipeline = checked["schema"]["scenario.schema.json"], checked["schema"]["pipeline.schema.json"]
    assert [name for name in ("maintenance", "connections", "error_share") if f'"{name}"' not in scenario] == []
    assert '"page-size"' in pipeline


def test_a_scenario_uses_them(checked: dict[str, Any]) -> None:
    assert checked["command"].endswith(" -u my_pipeline.py")
    assert {"acme.page_size.v1", "acme.page_size.error", "acme.page_size.deferred"} < set(checked["topics"])
    assert "a neighbour holds connections" in checked["listed"]


def test_the_mock_gets_only_what_concerns_it(checked: dict[str, Any]) -> None:
    assert checked["for the mock"] == ["maintenance.py"]


def test_a_fault_of_the_mock_needs_no_kit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["devkit", *(name for name in sys.modules if name.startswith("devkit."))]:
        monkeypatch.setitem(sys.modules, name, None)
    ended = run("mockapi", "faults", "maintenance", "--extend", "./maintenance.py")
    assert ended.code == 0, ended.err
    assert "  back_in  duration (required)\n" in ended.out


def test_devkit_lists_a_fault_on_a_part(run: Run) -> None:
    ended = run("devkit", "faults", "connections", "--extend", "./connections.py")
    assert "a neighbour holds connections" in ended.out, ended.err


def test_the_variable_does_as_the_option(run: Run, directory: Path) -> None:
    ended = run("mockapi", "faults", "maintenance", ENRICHMENT_EXTEND=f"{directory}/maintenance.py")
    assert "the maintenance page" in ended.out, ended.err


def test_a_job_is_known_to_the_pipeline(run: Run) -> None:
    ended = run("pipeline", "--extend", "./page_size.py", "run", "page-siez", "--config", "x.yaml")
    assert "there is no job 'page-siez'; did you mean 'page-size'?" in ended.err
    assert run("pipeline", "run", "page-size", "--config", "x.yaml").code == 2


def test_a_configuration_of_the_job_is_valid_with_the_extension(run: Run, directory: Path) -> None:
    write_config(directory, job="page-size")
    ended = run("pipeline", "--extend", "./page_size.py", "check", "pipeline.yaml")
    assert ended.out.startswith("pipeline.yaml: job page-size, from "), ended.err
    assert "there is no job 'page-size'" in run("pipeline", "check", "pipeline.yaml").err


def test_the_truth_notices_an_id_that_is_drawn() -> None:
    """No repeat is needed for that."""

    def body(wiki: str, path: str) -> bytes:
        return b'{"source": "[[a]] [[b]]"}'

    module = importlib.import_module("link_count_truth")
    config = SimpleNamespace(sink=SimpleNamespace(topic="out"))
    truth = module.LinkCountTruth(config, WikiAnswers(html=None, body=body))  # type: ignore[arg-type]
    source = {"dt": "2026-03-02T09:00:00Z", "meta": {"id": "e"}, "revision": {"rev_id": 5}}
    expected = SimpleNamespace(page=SimpleNamespace(wiki="enwiki"), latest_revision=5)
    event = SimpleNamespace(value=orjson.dumps(source), entry=SimpleNamespace(expected=expected))
    output = truth.output(event)

    def is_expected(id_: str) -> bool:
        meta = {"stream": "out", "id": id_, "dt": source["dt"]}
        value = orjson.dumps({"meta": meta, "rev_id": 5, "links": 2})
        return output.difference(value, body_removed=False) is None

    assert is_expected(output.value["meta"]["id"])
    assert not is_expected("drawn")


def test_a_job_passes_a_delete_without_slots() -> None:
    """An example that filters it is copied, and then loses events that every consumer has to see."""
    job = importlib.import_module("page_size").PageSizeJob(None, None)
    assert job.wants(SimpleNamespace(content_model=None, kind="delete")) is True


def test_a_job_is_known_to_a_soak(run: Run) -> None:
    """Which refuses this one before anything starts: nothing says what its outputs must be."""
    soak = ("devkit", "soak", "--for", "1m", "--set", "pipeline.job=page-size")
    ended = run(*soak, "--extend", "./page_size.py")
    assert ended.code == 2
    assert "no truth is registered for its job" in ended.err
    assert "there is no job 'page-size'" in run(*soak).err


def test_what_is_wrong_is_said_with_its_place_in_the_scenario(run: Run, directory: Path) -> None:
    text = examples()["maintenance.yaml"].replace("[./maintenance.py]", "[./maintenance.py, ./no.py]")
    (directory / "broken.yml").write_text(text)
    ended = run("devkit", "scenario", "check", "broken.yml")
    assert ended.code == 2
    assert f"error: broken.yml:4:28: extend[1]: {directory}/no.py: there is no such file" in ended.err
