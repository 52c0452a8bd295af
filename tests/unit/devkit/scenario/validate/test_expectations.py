"""Expectations that cannot be met or broken, whatever happens, are refused with their place in the file."""

from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.scenario.load import load_scenario
from pipeline.jobs.names import JOB_DEFAULTS, JobDefaults

BASE = (Path(__file__).parents[1] / "incident.yaml").read_text()
METRICS = ("  batch: { max_offsets: 50 }", "  batch: { max_offsets: 50 }\n  metrics: { port: 0 }")
INCIDENT = "- restarts: { at_least: 2 }"
FIXED = "- drained: true"
SHOWN = (FIXED, "- metric_exists: { name: enrichment_lag_events }")
MISSING = (INCIDENT, "- metric_missing: { name: enrichment_lag_events }")
MISSING_OF_ONE = (INCIDENT, '- metric_missing: { name: enrichment_lag_events, labels: { partition: "0" } }')
SHOWN_OF_ONE = (FIXED, '- metric_exists: { name: enrichment_lag_events, labels: { partition: "0" } }')
REFUSED = (FIXED, "- refused: { message: one name }")


OF_NO_TRUTH = ("  batch: { max_offsets: 50 }", "  batch: { max_offsets: 50 }\n  job: no-truth")


@pytest.fixture(autouse=True)
def _a_job_without_a_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = JobDefaults(output_topic="o", error_topic="e", deferred_topic="d", claim_prefix="p")
    monkeypatch.setitem(JOB_DEFAULTS._by_name, "no-truth", defaults)


@pytest.fixture
def scenario_file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    text = BASE
    for before, after in request.param:
        assert before in text
        text = text.replace(before, after, 1)
    file = tmp_path / "s.yaml"
    file.write_text(text)
    return file


@pytest.mark.parametrize("scenario_file", [[OF_NO_TRUTH]], indirect=True)
def test_a_job_without_a_truth_is_not_audited(scenario_file: Path) -> None:
    refused = "audit: the main program is not audited, as no truth is registered for its job"
    with pytest.raises(InvalidFileError, match=refused) as caught:
        load_scenario(scenario_file)
    assert len(str(caught.value).splitlines()) == 1


ABSENT = {
    "log": (INCIDENT, "- log: { text: Lost executor, at_most: 0 }"),
    "exception": (INCIDENT, "- exception: { class: DiskFull, at_most: 0 }"),
}
PRESENT = {
    "log": (FIXED, "- log: { text: Lost executor }"),
    "exception": (FIXED, "- exception: { class: DiskFull }"),
}
MISSPELT = {
    "log": (FIXED, "- log: { text: Lost executors }"),
    "exception": (FIXED, "- exception: { class: DisksFull }"),
}


@pytest.mark.parametrize("scenario_file", [[ABSENT[kind], MISSPELT[kind]] for kind in ABSENT], indirect=True)
def test_what_is_to_be_absent_is_expected_elsewhere(scenario_file: Path) -> None:
    with pytest.raises(InvalidFileError, match=r"no (log|exception) of the other arm expects .*could be misspelt"):
        load_scenario(scenario_file)


@pytest.mark.parametrize(
    "scenario_file",
    [
        *([ABSENT[kind], PRESENT[kind]] for kind in ABSENT),
        [METRICS, MISSING, SHOWN],
        [METRICS, MISSING, SHOWN_OF_ONE],
        [METRICS, MISSING_OF_ONE, SHOWN_OF_ONE],
        [METRICS, SHOWN],
        [
            REFUSED,
            ("expect:\n", "tried_first: { fixed: { metrics: { rename: { enrichment_events: x } } } }\nexpect:\n"),
        ],
        [(FIXED, "- requests: { rule: huge page, at_least: 0, at_most: 0 }")],
        [(FIXED, "- compare: { requests: { rule: huge page, arms: [fixed, incident], at_most: 2 } }")],
        # What the arm has is tried as it is.
        [REFUSED, ("expect:\n", "tried_first: { fixed: {} }\nexpect:\n")],
    ],
    indirect=True,
)
def test_taken(scenario_file: Path) -> None:
    assert load_scenario(scenario_file).name == "an-incident"
