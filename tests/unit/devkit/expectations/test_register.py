"""A package of somebody else's adds an expectation: one file that calls `register`.

The models of scenarios are made first, so that nothing depends on who is imported when.
"""

import importlib
from pathlib import Path

import pytest

from devkit.errors import DevkitError
from devkit.expectations import register
from devkit.expectations.restarts import RESTARTS
from devkit.report.schema import schemas
from devkit.scenario.load import load_scenario
from tests.unit.devkit.observed import an_observation
from tests.unit.extension_state import restored_registries

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


def test_one_file_adds_an_expectation(tmp_path: Path) -> None:
    package = tmp_path / "somebodys"
    package.mkdir()
    (package / "fetches.py").write_text(EXPECTATION)
    text = (Path(__file__).parents[1] / "scenario" / "incident.yaml").read_text()
    assert text.count("    - drained: true\n") == 1
    file = tmp_path / "an-incident.yaml"
    file.write_text(text.replace("    - drained: true\n", "    - fetches_an_output: {at_most: 2}\n"))
    with restored_registries(tmp_path):
        importlib.import_module("somebodys.fetches")
        (stated,) = (one for one in load_scenario(file).expect["fixed"] if one.kind == "fetches_an_output")
        finding = stated.judge(an_observation())
        assert (finding.expected, finding.measured, finding.holds) == ("at most 2", f"{260 / 150}", True)
        assert stated.judge(an_observation(not_observable=frozenset({"sources"}))).holds is None
        file.write_text(file.read_text().replace("fetches_an_output", "fetches_an_outptu"))
        with pytest.raises(DevkitError, match=r"did you mean 'fetches_an_output'\?"):
            load_scenario(file)
        (schema,) = (text for path, text in schemas().items() if path.name == "scenario.schema.json")
        assert "fetches_an_output" in schema


def test_a_name_that_is_taken_is_refused() -> None:
    class Other:
        name, argument, needs = "restarts", int, frozenset[str]()

    with pytest.raises(ValueError, match="there is an expectation 'restarts' already"):
        register(Other())  # type: ignore[arg-type]
    register(RESTARTS)
