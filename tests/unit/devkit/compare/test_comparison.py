from pathlib import Path
from typing import Any

import pytest

from devkit.compare.comparison import Measured, RunComparison
from devkit.compare.find_run import find_run
from devkit.compare.lines import comparison_lines
from devkit.compare.series_comparison import SeriesComparison, series_comparison_lines
from devkit.errors import UsageError
from devkit.headroom.calibration import Calibration
from devkit.headroom.headroom_figures import ArmHeadroom, RunHeadroom
from devkit.observe.settings import ChangedValue
from devkit.report.result import Result
from tests.unit.devkit.compare.conftest import Runs
from tests.unit.devkit.report import storm
from tests.unit.devkit.report.conftest import expectation, with_arm
from tests.unit.devkit.report.test_run_series import series_of

PLACES: dict[str, Any] = {"checkpoint": "s3a://a", "sink": {"topic": "out"}}
CONFIGURATION: dict[str, Any] = {"batch": {"max_offsets": 50}, "stall_timeout": "10s"} | PLACES
ALWAYS, HALF, NEVER = (series_of(*codes) for codes in ((0, 0, 0, 0, 0, 0), (0, 1, 0, 3, 0, 1), (1, 1, 1, 1, 1, 1)))


def worse(**changes: Any) -> Result:
    """The storm with a fixed arm that was restarted, on a machine that was slow."""
    good = storm.result()
    fixed = good.arms["fixed"]
    expectations = (*fixed.expectations, expectation("restarts", "0", "3", False))
    slow = {"slowdown": 2.5, "worst_slowdown": 4.0, "worst_from_s": 3.0, "limit": 5.0, "core_slowdown": 1.0}
    headroom = ArmHeadroom.model_validate(slow | {"others_cores": None, "pressure": None})
    calibration = Calibration(quantum_s=0.01, baseline="measured", measured_s=0.02, slowdown=2.2)
    run = RunHeadroom(margin=5, stretch=2, stretch_by="command line", calibration=calibration)
    of_run: dict[str, Any] = {"outcome": "fix does not hold", "exit_code": 1, "headroom": run}
    of_run |= {"versions": {**good.versions, "python": "3.12.1"}}
    result = with_arm(good, restarts=3, duration_s=72.0, expectations=expectations, headroom=headroom)
    return result.model_copy(update=of_run | changes)


def compare_runs(runs: Runs, a: tuple[Any, ...] = (), b: tuple[Any, ...] = ()) -> RunComparison:
    return RunComparison.of(runs.read("1", *a), runs.read("2", *b))


def test_two_equal_runs_differ_in_nothing(runs: Runs) -> None:
    comparison = compare_runs(runs, (None, CONFIGURATION), (None, CONFIGURATION))
    assert (comparison.settings, comparison.versions) == ((), {})
    assert all(one.a == one.b for one in comparison.figures)
    assert all(one.a == one.b for one in comparison.expectations)


def test_expectations_stand_side_by_side(runs: Runs) -> None:
    found = {(one.arm, one.name): (one.a, one.b) for one in compare_runs(runs, (), (worse(),)).expectations}
    assert found["fixed", "restarts"] == (None, Measured(expected="0", measured="3", holds=False))
    a, b = found["fixed", "drained"]
    assert a == b
    assert a == Measured(expected="true", measured="committed 200 of 200", holds=True)


def test_a_figure_has_its_ratio_where_there_is_one(runs: Runs) -> None:
    figures = {(one.arm, one.name): one for one in compare_runs(runs, (), (worse(),)).figures}
    assert figures["fixed", "duration_s"].ratio == 2.0
    assert (figures["fixed", "restarts"].b, figures["fixed", "restarts"].ratio) == (3, None)
    assert figures["fixed", "figures.amplification"].ratio == 1.0
    assert figures["incident", "audit.pending"].a == 134


def test_configurations_are_compared_without_what_the_stack_gives(runs: Runs) -> None:
    other = {**CONFIGURATION, "batch": {"max_offsets": 100}, "checkpoint": "s3a://b", "sink": {}}
    found = compare_runs(runs, (None, CONFIGURATION), (None, other)).settings
    assert [(one.arm, one.key, one.a, one.b) for one in found] == [
        ("fixed", "batch.max_offsets", 50, 100),
        ("fixed", "sink.topic", "out", None),
    ]


def test_a_duration_that_was_only_stretched_is_told_as_such(runs: Runs) -> None:
    other = {**CONFIGURATION, "stall_timeout": "20s", "batch": {"max_offsets": 100}}
    found = compare_runs(runs, (None, CONFIGURATION), (worse(), other)).settings
    assert {one.key: one.by_stretch for one in found} == {"stall_timeout": True, "batch.max_offsets": False}


def test_what_the_kit_gives_the_arms_is_compared_too(runs: Runs) -> None:
    difference = {"supervisor.attempts": {"incident": 1, "fixed": None}}
    found = compare_runs(runs, (worse(config_difference=difference),), ()).settings
    assert [(one.arm, one.key, one.a, one.b) for one in found] == [("incident", "supervisor.attempts", 1, None)]


def test_a_configuration_that_an_arm_was_given_as_it_is_is_one_value(runs: Runs) -> None:
    a, b = runs.read("1", None, CONFIGURATION), runs.read("2", None, CONFIGURATION)
    for run, text in ((a, "stall_timeout: 1s\n"), (b, "stall_timeout: 2s\n")):
        (run.directory / "fixed" / "pipeline.yaml").write_text(text)
    (found,) = RunComparison.of(a, b).settings
    assert (found.key, found.a, found.b) == ("raw_config", "stall_timeout: 1s\n", "stall_timeout: 2s\n")


def test_an_arm_that_one_run_alone_played_is_named_and_not_compared(runs: Runs) -> None:
    good = storm.result()
    comparison = compare_runs(runs, (), (good.model_copy(update={"arms": {"fixed": good.arms["fixed"]}}),))
    assert (comparison.only_a, comparison.only_b) == (("incident",), ())
    assert {one.arm for one in (*comparison.figures, *comparison.expectations, *comparison.machine)} == {"fixed"}
    assert "Played in a alone: incident." in list(comparison_lines(comparison))


def test_as_text(runs: Runs) -> None:
    changes = (ChangedValue(place="traffic.rate", before="20/s", value="40/s"),)
    other = {**CONFIGURATION, "stall_timeout": "20s", "batch": {"max_offsets": 100}}
    comparison = compare_runs(runs, (None, CONFIGURATION), (worse(changes=changes), other))
    text = "\n".join(comparison_lines(comparison)).replace(str(runs.out), "runs")
    assert text.startswith(
        "a: a-storm (seed 7): reproduced and fixed, exit code 0\n"
        "   runs/a-storm/1\n"
        "b: a-storm (seed 7): fix does not hold, exit code 1\n"
        "   runs/a-storm/2\n"
        "   not the file as it is: traffic.rate: 20/s → 40/s\n"
    )
    assert "\n  fixed restarts (expected 0)\n    a  not expected\n    b  FAIL  3\n" in text
    assert "\n  fixed  duration_s  36  72  2\n" in text
    assert "\n  times of a are 1 times the file's, those of b 2 times\n" in text
    assert "\n  fixed: batch.max_offsets: 50 (a) → 100 (b)\n  1 duration of other values by the stretch alone\n" in text
    assert "\n  fixed, slowest 10s     n/a  4\n" in text
    assert text.endswith("\n  python: 3.11.2 (a), 3.12.1 (b)")


def test_it_can_be_read_again(runs: Runs) -> None:
    comparison = compare_runs(runs, (None, CONFIGURATION), (worse(), CONFIGURATION))
    assert RunComparison.model_validate_json(comparison.model_dump_json()) == comparison


def test_by_its_directory_its_name_and_that_of_its_scenario(runs: Runs) -> None:
    first, newest = (runs.write(time) for time in ("20261121T100000Z", "20261121T110000Z"))
    assert find_run(str(first), runs.out).directory == first
    assert find_run("a-storm/20261121T100000Z", runs.out).directory == first
    assert find_run("a-storm", runs.out).directory == newest
    (runs.out / "latest").symlink_to(first)
    assert find_run("latest", runs.out).directory == runs.out / "latest"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a-strom", "did you mean a-storm?"),
        ("a-storm/20261121T100001Z", "did you mean a-storm/20261121T100000Z?"),
        ("zzz", "name a directory, or the newest of one of a-storm"),
    ],
)
def test_what_is_none_is_refused_with_what_there_is(runs: Runs, text: str, hint: str) -> None:
    runs.write("20261121T100000Z")
    (runs.out / "notes").mkdir()
    with pytest.raises(UsageError, match=f"there is no run {text}") as raised:
        find_run(text, runs.out)
    assert raised.value.hint == hint


def test_where_there_is_none_at_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no run a, and none at all in .*nowhere"):
        find_run("a", tmp_path / "nowhere")


def test_a_directory_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(UsageError, match="there is no run"):
        find_run(str(tmp_path), tmp_path / "runs")


def test_one_without_a_result_says_why(tmp_path: Path) -> None:
    error = {"t_s": 1.0, "kind": "harness error", "error": "Kafka ended", "exit_code": 3}
    storm.write_run(tmp_path / "broken", with_result=False, extra=(error,))
    with pytest.raises(UsageError, match=r"has no result\.json to compare; it broke off: Kafka ended"):
        find_run("broken", tmp_path)
    storm.write_run(tmp_path / "cut", with_result=False)
    with pytest.raises(UsageError, match="it was interrupted, or is not over yet"):
        find_run("cut", tmp_path)


def compared(a: object, b: object) -> SeriesComparison:
    return SeriesComparison.of((Path("runs/a/series-1"), a), (Path("runs/a/series-2"), b))  # type: ignore[arg-type]


def test_two_series_as_text() -> None:
    whole = series_of(0, 1, 0, 1)
    assert list(series_comparison_lines(compared(whole, series_of(0, 0)))) == [
        "a: a-storm, 4 runs",
        "   runs/a/series-1",
        "b: a-storm, 2 runs",
        "   runs/a/series-2",
        "   interrupted: 2 of 4 runs were not played",
        "",
        "how often each verdict came, and its interval with 95% confidence:",
        "                        a                    b",
        "  exit 0, holds         2 of 4 (15% to 85%)  2 of 2 (34% to 100%)  may be chance: the intervals overlap",
        "  exit 1, refuted       2 of 4 (15% to 85%)  0 of 2 (0% to 66%)    may be chance: the intervals overlap",
        "  exit 3, inconclusive  0 of 4 (0% to 49%)   0 of 2 (0% to 66%)",
        "",
        "seeds that both played (1 seed with the same outcome):",
        "  seed  a               b",
        "  8     not reproduced  reproduced and fixed",
    ]


@pytest.mark.parametrize(("other", "apart"), [(NEVER, True), (HALF, False), (ALWAYS, False)])
def test_rates_differ_where_their_intervals_have_nothing_in_common(other: object, apart: bool) -> None:
    found = compared(ALWAYS, other)
    assert {rate.exit_code: rate.apart for rate in found.rates} == {0: apart, 1: apart, 3: False}
    assert compared(other, ALWAYS).rates[0].apart == apart
    assert any(line.endswith("differs") for line in series_comparison_lines(found)) == apart
