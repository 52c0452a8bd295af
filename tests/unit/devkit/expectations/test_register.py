"""A package of somebody else's adds an expectation: one file that calls `register`.

In a process of its own, since an expectation that is registered stays. There the models of scenarios are made first, so
that nothing depends on who is imported when.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from devkit.expectations import register
from devkit.expectations.restarts import RESTARTS

EXPECTATION = """
from devkit.expectations import register
from devkit.expectations.base import Measure
from devkit.expectations.bounds import NumberBound

register(
    Measure(
        name="fetches_an_output",
        value=lambda observation: observation.figures.fetches / observation.audit.outputs,
        argument=NumberBound,
        needs=frozenset({"sources"}),
    )
)
"""
PROGRAM = """
import json, sys
from pathlib import Path

from devkit.errors import DevkitError
from devkit.report.schema import schemas
from devkit.scenario.load import load_scenario
from tests.unit.devkit.observed import an_observation

import somebodys.fetches

file = Path(sys.argv[1])
scenario = load_scenario(file)
(stated,) = (one for one in scenario.expect["fixed"] if one.kind == "fetches_an_output")
found = stated.judge(an_observation())
file.write_text(file.read_text().replace("fetches_an_output", "fetches_an_outptu"))
try:
    load_scenario(file)
except DevkitError as error:
    near = str(error)
schema = next(text for path, text in schemas().items() if path.name == "scenario.schema.json")
print(json.dumps({
    "finding": [found.expected, found.measured, found.holds],
    "not_observable": stated.judge(an_observation(not_observable=frozenset({"sources"}))).holds,
    "near": near,
    "schema": "fetches_an_output" in schema,
}))
"""


def test_one_file_adds_an_expectation(tmp_path: Path) -> None:
    package = tmp_path / "somebodys"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "fetches.py").write_text(EXPECTATION)
    text = (Path(__file__).parents[1] / "scenario" / "incident.yaml").read_text()
    assert text.count("    - drained: true\n") == 1
    scenario = tmp_path / "an-incident.yaml"
    scenario.write_text(text.replace("    - drained: true\n", "    - fetches_an_output: {at_most: 2}\n"))
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(scenario)],
        env={"PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[4]}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    assert result["finding"] == ["at most 2", f"{260 / 150}", True]
    assert result["not_observable"] is None
    assert "did you mean 'fetches_an_output'?" in result["near"]
    assert result["schema"]


def test_a_name_that_is_taken_is_refused() -> None:
    class Other:
        name, argument, needs = "restarts", int, frozenset[str]()

    with pytest.raises(ValueError, match="there is an expectation 'restarts' already"):
        register(Other())  # type: ignore[arg-type]
    register(RESTARTS)
