"""Expectations that cannot be met or broken, whatever happens, are refused with their place in the file."""

from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.scenario.load import load_scenario

BASE = (Path(__file__).parent / "incident.yaml").read_text()
METRICS = ("  batch: { max_offsets: 50 }", "  batch: { max_offsets: 50 }\n  metrics: { port: 0 }")
INCIDENT = "- restarts: { at_least: 2 }"
FIXED = "- drained: true"
SHOWN = (FIXED, "- metric_exists: { name: lag }")
MISSING = (INCIDENT, "- metric_missing: { name: lag }")
REFUSED = (FIXED, "- refused: { message: one name }")
SEVERAL = ("until:", "programs: { html: { run: pipeline }, reader: { run: consumer } }\nuntil:")
NAMED = (FIXED, "- restarts: { program: readr, at_most: 0 }")


@pytest.fixture
def scenario_file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    text = BASE
    for before, after in request.param:
        assert before in text
        text = text.replace(before, after, 1)
    file = tmp_path / "s.yaml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("scenario_file", "said"),
    [
        ([SEVERAL, NAMED], "expect.fixed[0].restarts.program: there is no program 'readr'; did you mean 'reader'?"),
        ([NAMED], "expect.fixed[0].restarts.program: there is no program 'readr'; `programs` names"),
        (
            [(FIXED, "- log: { event: waitin }")],
            "expect.fixed[0].log.event: the pipeline writes no event 'waitin'",
        ),
        ([REFUSED], "expect.fixed[0].refused: no start is tried first in this arm: say in tried_first.fixed what is"),
        ([SHOWN], "expect.fixed[0].metric_exists: this arm serves no metrics: set metrics.port"),
        ([METRICS, MISSING], "expect.incident[0].metric_missing.name: no metric_exists of the other arm asks for it"),
        # The same arm's own does not count: there it is expected to be missing.
        (
            [METRICS, MISSING, (MISSING[1], f"{MISSING[1]}\n    - metric_exists: {{ name: lag }}")],
            "expect.incident[0].metric_missing.name: no metric_exists of the other arm asks for it",
        ),
    ],
    indirect=["scenario_file"],
)
def test_refused(scenario_file: Path, said: str) -> None:
    with pytest.raises(InvalidFileError) as caught:
        load_scenario(scenario_file)
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "scenario_file",
    [
        [METRICS, MISSING, SHOWN],
        [METRICS, SHOWN],
        [
            REFUSED,
            ("expect:\n", "tried_first: { fixed: { metrics: { rename: { enrichment_events: x } } } }\nexpect:\n"),
        ],
        # What the arm has is tried as it is.
        [REFUSED, ("expect:\n", "tried_first: { fixed: {} }\nexpect:\n")],
    ],
    indirect=True,
)
def test_taken(scenario_file: Path) -> None:
    assert load_scenario(scenario_file).name == "an-incident"
