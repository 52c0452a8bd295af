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
SEVERAL = ("until:", "programs: { html: { run: pipeline }, reader: { run: consumer } }\nuntil:")
NAMED = (FIXED, "- restarts: { program: readr, at_most: 0 }")


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


@pytest.mark.parametrize(
    ("scenario_file", "message"),
    [
        ([SEVERAL, NAMED], "expect.fixed[0].restarts.program: there is no program 'readr'; did you mean 'reader'?"),
        ([NAMED], "expect.fixed[0].restarts.program: there is no program 'readr'; `programs` names"),
        (
            [(FIXED, "- error_events: { at_least: 999 }")],
            "expect.fixed[0].error_events.at_least: its traffic has 161 events",
        ),
        ([(FIXED, "- lag: { page: Huje, at_most: 1 }")], "lag.page: there is no page 'Huje' in traffic.pages; did you"),
        ([(FIXED, "- lag: { partition: 0, at_most: 1 }")], "lag.partition: there is one source partition only: leave"),
        (
            [(FIXED, "- memory: { at_most: 1GiB, during: traffik }")],
            "memory.during: nothing of this arm is called 'traffik'; did you mean 'traffic'?",
        ),
        (
            [SEVERAL, (FIXED, "- never_ran: { program: reader }")],
            "expect.fixed[0].never_ran: nothing shows whether this program runs: a pipeline says it, and a command "
            "that is alone",
        ),
        (
            [(FIXED, "- other_settings: { key: batch.max_ofsets }")],
            "other_settings.key: its configuration has no key 'batch.max_ofsets'; did you mean 'batch.max_offsets'?",
        ),
        (
            [(FIXED, "- other_settings: { key: zzz }")],
            "other_settings.key: its configuration has no key 'zzz'; docs/reference/configuration.md has all of them",
        ),
        ([(FIXED, "- gave_up: true")], "expect.fixed[0].gave_up: this arm's supervisor never gives up: write"),
        (
            [(INCIDENT, "- compare: { restarts: { arms: [incident, fixed], at_least: 2 } }")],
            "expect.incident[0].compare: arm fixed is played after this one: let it stand in expect.fixed",
        ),
        (
            [(FIXED, "- compare: { lag: { page: Huje, arms: [fixed, incident], at_least: 2 } }")],
            "expect.fixed[0].compare.lag.page: there is no page 'Huje' in traffic.pages; did you mean 'Huge'?",
        ),
        (
            [
                METRICS,
                (FIXED, "- compare: { metric: { name: enrichment_lag_event, arms: [fixed, incident], at_least: 2 } }"),
            ],
            "expect.fixed[0].compare.metric.name: ",
        ),
        (
            [(FIXED, "- compare: { restarts: { arms: [fixd, incident], at_least: 2 } }")],
            "expect.fixed[0].compare: there is no arm 'fixd'; did you mean 'fixed'?",
        ),
        (
            [REFUSED, ("until:", "programs: { mine: { run: command sleep 9 } }\nuntil:")],
            "expect.fixed[0].refused: the exit codes of a command are its own, so nothing shows that it refused",
        ),
        ([SHOWN], "expect.fixed[0].metric_exists: this arm serves no metrics: set metrics.port"),
        (
            [(FIXED, "- audit: { lost: { at_least: 999 } }")],
            "expect.fixed[0].audit.lost: no run has 999: its traffic has 161 events",
        ),
        ([METRICS, MISSING], "expect.incident[0].metric_missing.name: no metric_exists of the other arm asks for it"),
        (
            [OF_NO_TRUTH],
            "audit: the main program is not audited, as no truth is registered for its job",
        ),
        # The same arm's own does not count: there it is expected to be missing.
        (
            [METRICS, MISSING, (MISSING[1], f"{MISSING[1]}\n    {SHOWN[1]}")],
            "expect.incident[0].metric_missing.name: no metric_exists of the other arm asks for it",
        ),
        # What is shown without a label may lack just the series that is to be missing.
        (
            [METRICS, MISSING_OF_ONE, SHOWN],
            "expect.incident[0].metric_missing.name: no metric_exists of the other arm asks for it with these labels",
        ),
    ],
    indirect=["scenario_file"],
)
def test_refused(scenario_file: Path, message: str) -> None:
    with pytest.raises(InvalidFileError) as caught:
        load_scenario(scenario_file)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "scenario_file",
    [
        [METRICS, MISSING, SHOWN],
        [METRICS, MISSING, SHOWN_OF_ONE],
        [METRICS, MISSING_OF_ONE, SHOWN_OF_ONE],
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
