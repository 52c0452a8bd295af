"""The schema files in the repository are the models', and what the models take or write is valid by them."""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pydantic import ValidationError

from devkit.observe.arm_role import ROLES
from devkit.report import schema
from devkit.report.result import Result
from devkit.report.schema import schemas
from devkit.scenario.load import load_scenario
from devkit.scenario.resolve import resolve

TOP = Path(__file__).parents[4]
FILES = [
    "devkit/report/result.schema.json",
    "devkit/report/series.schema.json",
    "devkit/scenario/scenario.schema.json",
    "pipeline/pipeline.schema.json",
]
SCENARIOS = sorted((TOP / "scenarios").rglob("*.yaml"))


def errors(file: str, document: Any) -> list[str]:
    schema = json.loads((TOP / file).read_text())
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


def test_these_are_the_files() -> None:
    assert sorted(str(path.relative_to(TOP)) for path in schemas()) == FILES


@pytest.mark.parametrize("file", FILES)
def test_the_file_is_what_the_model_says_now_and_is_a_schema(file: str) -> None:
    written = (TOP / file).read_text()
    assert written == schemas()[TOP / file], "run: python -m devkit.report.schema"
    jsonschema.Draft202012Validator.check_schema(json.loads(written))


@pytest.mark.parametrize("which", ["good", "failed"])
def test_a_result_is_valid_and_reads_back_as_it_was_written(which: str, request: pytest.FixtureRequest) -> None:
    result: Result = request.getfixturevalue(which)
    written = result.model_dump_json()
    assert errors(FILES[0], json.loads(written)) == []
    assert Result.model_validate_json(written) == result


@pytest.mark.parametrize("change", [{"outcome": "fine"}, {"surprise": 1}], ids=["no outcome", "an unknown field"])
def test_what_is_no_result_is_refused(good: Result, change: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(change))):
        Result.model_validate(good.model_dump() | change)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_shipped_scenario_is_valid_and_so_are_its_configurations(path: Path) -> None:
    assert errors(FILES[2], yaml.safe_load(path.read_text())) == []
    scenario = load_scenario(path)
    for arm in ROLES:
        effective = resolve(scenario).arms[arm].main.configured.effective()
        assert errors(FILES[3], effective) == []


def incident_with(section: str, key: str | None, value: Any) -> dict[str, Any]:
    """A valid scenario with one value changed."""
    document: dict[str, Any] = yaml.safe_load((TOP / "tests/unit/devkit/scenario/incident.yaml").read_text())
    document[section] = value if key is None else document[section] | {key: value}
    return document


FORMS = [
    ("traffic", "for", "1.5 m"),
    ("until", "deadline", "90s"),
    ("supervisor", "delay", "250ms"),
    ("traffic", "rate", "0.5/h"),
    ("traffic", "rate", "1200/min"),
    ("traffic", "mix", {"create": "5%", "move": 0.05, "delete": 0}),
    ("until", "deadline", "1d"),
    ("supervisor", "delay", "500us"),
    ("expect", "fixed", [{"abandoned": 0.05}, {"abandoned": {"at_least": "5%", "at_most": 0.5}}]),
    ("mock", None, {"rules": [{"name": "x", "when": {"share": "5%"}, "do": {"latency": "500us", "truncate": "50%"}}]}),
    ("pipeline", None, {"fetch": {"retry_budget": {"share": "5%"}, "not_found_grace": "1d"}}),
    ("kafka", None, {"topics": {"output": {"max.message.bytes": "32MiB"}}}),
    ("kafka", None, {"topics": {"output": {"max.message.bytes": 1048576}}}),
    ("mock", None, {"rules": [{"name": "x", "do": {"latency": "40ms", "status": 504}}]}),
    ("mock", None, {"rules": [{"name": "x", "do": {"latency": {"p50": "1s", "p99": "2s"}, "status": {"code": 504}}}]}),
    ("arms", "fixed", None),
    ("expect", "fixed", [{"restarts": 2}, {"restarts": {"at_most": 2}}]),
]


@pytest.mark.parametrize(("section", "key", "value"), FORMS)
def test_every_form_that_may_be_written_is_valid(section: str, key: str | None, value: Any, tmp_path: Path) -> None:
    """An editor that checks by the schema must not mark what the kit takes."""
    document = incident_with(section, key, value)
    path = tmp_path / "x.yaml"
    path.write_text(yaml.safe_dump(document))
    load_scenario(path, unchecked=True)
    assert errors(FILES[2], document) == []


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("traffic", "for", 10),
        ("traffic", "for", "10 sec"),
        ("traffic", "rate", 20),
        ("traffic", "mix", {"create": "500%"}),
        ("mock", "rules", [{"name": "x", "do": {"latency": "2 weeks"}}]),
        ("traffic", "sed", 7),
        ("until", "any", []),
        ("expect", "fixed", [{"restart": 2}]),
        ("expect", "fixed", [{"restarts": "often"}]),
        ("mock", "rules", [{"do": {"status": 504}}]),
        ("arms", "fixed", {"batch": {"max_ofsets": 10}}),
        ("pipeline", "fetch", {"deadline": "9 sec"}),
    ],
)
def test_what_is_wrong_by_itself_is_wrong_by_the_schema(section: str, key: str, value: Any) -> None:
    assert errors(FILES[2], incident_with(section, key, value))


def test_an_extension_that_is_not_there_is_an_error_of_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["schema", "--extend", str(tmp_path / "none.py"), "--to", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(schema.__file__, run_name="__main__")
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path}/none.py: there is no such file\nhint: ")
