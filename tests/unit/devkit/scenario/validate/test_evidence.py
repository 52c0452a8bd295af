"""A file of which no run could show what it is there to show is refused, unless a person says that it is meant."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.programs.command.program import CommandKind
from devkit.scenario.load import load_scenario
from tests.unit.devkit.conftest import Edited

Change = tuple[str, str]
INCIDENT = "- restarts: { at_least: 2 }"
FIXED = "- drained: true"
IN_INCIDENT = "    record_limit: { policy: none }"
IN_FIXED = "    record_limit: { policy: serialized }"
METRICS = ("  batch: {", "  metrics: { port: 0 }\n  batch: {")
GRACE = "fetch: { not_found_grace: 30s }"
RULES = """\
mock:
  rules:
    - name: huge page
      when: { page: Huge }
      do: { body: { size: 2MiB, changed_bytes: 64KiB, encoding: gzip } }
"""
KILLED = "{ name: killed, do: { kill_process: { process: driver } }, at: 1s, arms: [incident] }"
OWN = ("kafka:\n", "programs: { mine: { run: 'command sh -c true' } }\nkafka:\n")


VARIABLE = ("run: 'command sh -c true'", "run: 'command sh -c true', environment: { MODE: right }")


def exists(pattern: str) -> Change:
    return FIXED, f"- metric_exists: {{ {pattern} }}"


@pytest.fixture
def file(tmp_path: Path, edited: Edited, request: pytest.FixtureRequest) -> Path:
    changes: Sequence[Change] = request.param
    path = tmp_path / "s.yaml"
    path.write_text(edited(*changes))
    return path


def spark(setting: str, more: str = "slots: 3") -> Change:
    return IN_FIXED, f"{IN_FIXED}\n    {more}\n    spark: {{ {setting} }}"


WRONG = [
    (
        [spark("spark.driver.memoy: 3g")],
        "arms.fixed.spark.spark.driver.memoy: unknown to Spark, which would ignore it; did you mean "
        "'spark.driver.memory'?",
    ),
    (
        [spark("spark.executor.memory: 1g", "executors: 3"), ("kafka:\n", "container: { memory: 2GiB }\nkafka:\n")],
        "arms.fixed.spark.spark.executor.memory: 3 executors take 3GiB, and the container has 2GiB",
    ),
    (
        [("Huge: { edits: 1,", "Huge: { edits: 1, error: { fixed: revision_not_fuond },")],
        "traffic.pages.Huge.error.fixed: the pipeline has no error type 'revision_not_fuond'; did you mean",
    ),
    (
        [OWN, ("arms:\n", "cause: [{ differs: programs.mine.environment.MODE }]\narms:\n"), VARIABLE],
        "cause[0].differs: programs.mine.environment.MODE is the same in all arms, so it is no cause",
    ),
]


@pytest.mark.parametrize(("file", "message"), WRONG, indirect=["file"])
def test_refused_with_its_place(file: Path, message: str) -> None:
    with pytest.raises(InvalidFileError) as caught:
        load_scenario(file)
    assert all(str(file) in line for line in str(caught.value).splitlines())
    assert message in str(caught.value)
    assert caught.value.hint == "`devkit scenario run --unchecked` plays it all the same"


@pytest.mark.parametrize("file", [changes for changes, _ in WRONG], indirect=True)
def test_taken_unchecked(file: Path) -> None:
    assert load_scenario(file, unchecked=True).name == "an-incident"


@pytest.mark.parametrize(
    "file",
    [
        [("deadline: 90s", "deadline: 8s")],
        [(RULES, "cause: [{ differs: record_limit.policy }]\n")],
        # What the arms differ in is the fault itself.
        [(RULES, f"timeline: [{KILLED}]\n")],
        [("when: { page: Huge }", "when: { page: Huge, window: { from: 89s, for: 1h } }")],
        [(FIXED, "- log: { event: waiting, at_most: 0 }")],
        [(FIXED, "- amplification: 1"), (INCIDENT, "- amplification: { at_least: 1.1 }")],
        [METRICS, exists("name: enrichment_lag_seconds, labels: { partition: '0' }")],
        [METRICS, exists("name: enrichment_fetch_seconds_bucket, labels: { lane: main, le: '0.5' }")],
        [
            ("  batch: {", "  metrics: { port: 0, rename: { enrichment_events: mine } }\n  batch: {"),
            exists("name: mine_total"),
        ],
        [(INCIDENT, "- deferred: 0"), (IN_INCIDENT, "    deferral: { policy: none }")],
        [(IN_FIXED, IN_INCIDENT)],
        [("  batch: {", f"  {GRACE}\n  batch: {{"), ("  seed: 7", "  seed: 7\n  event_times: when published")],
        # Nothing is known of what a program of the user's own says and serves.
        [OWN, (FIXED, "- log: { event: zzz, at_most: 0 }")],
        [OWN, METRICS, exists("name: zzz")],
    ],
    indirect=True,
)
def test_taken(file: Path) -> None:
    assert load_scenario(file).name == "an-incident"


@pytest.mark.parametrize("file", [[(FIXED, "- log: { event: zzz, at_most: 0 }")]], indirect=True)
def test_a_program_in_place_of_the_pipeline_may_log_what_it_likes(file: Path) -> None:
    assert load_scenario(file, instead=CommandKind().program("sh -c true")).name == "an-incident"
