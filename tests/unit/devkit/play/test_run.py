"""What a run leaves to be read, however it ends, and that one which was short of time is played once more."""

import io
import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from devkit.errors import PartError, StackError
from devkit.headroom.calibration import Calibration, StretchBy
from devkit.headroom.headroom_figures import RunHeadroom
from devkit.headroom.shortage import Headroom
from devkit.observe.arm_end import EndByCondition
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.arm_role import ROLES, ArmName
from devkit.observe.bounded_figure import BoundedFigure
from devkit.observe.logs.logs import LoggedException
from devkit.observe.timeline.run_metadata import RunMetadata
from devkit.play.attempt import Attempt, run_metadata
from devkit.play.options import RunOptions
from devkit.play.run import FinishedRun, play_series, run_scenario
from devkit.play.run_result import Played, broken_off, judged
from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.program import CommandProgram
from devkit.report.expectation_result import ExpectationResult
from devkit.report.progress import Progress
from devkit.report.result import Result
from devkit.report.run_record import read_run
from devkit.report.verdict_lines import verdict_lines
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from devkit.verdict.judgement import JudgedArm
from tests.unit.devkit.headroom.readings import samples
from tests.unit.devkit.observed import an_observation, some_evidence
from tests.unit.devkit.report.conftest import a_good_result

IDLE = Calibration(quantum_s=0.004, baseline="measured", measured_s=0.004, slowdown=1.0)
LOOP = LoggedException(1, "RecordTooLargeException", "The message is 23048294 bytes")
OPTIONS = RunOptions(("incident", "fixed"), Path("runs"), keep=False, repeat="devkit scenario run an-incident")
BEGAN = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


class Machine:
    """Plays nothing; `slowdowns` are those of the plays, one after the other."""

    def __init__(self, *slowdowns: float, stretch_by: StretchBy = "calibration") -> None:
        self.slowdowns, self.stretch_by = list(slowdowns), stretch_by
        self.attempts: list[Attempt] = []

    def play(self, attempt: Attempt, tells: RunMetadata, *_: Any) -> Played:
        self.attempts.append(attempt)
        (attempt.directory / "incident").mkdir()
        run = RunHeadroom(
            margin=5,
            stretch=attempt.stretch or 1,
            stretch_by="repeat" if attempt.stretch else self.stretch_by,
            calibration=IDLE,
            first_play=attempt.first_play,
        )
        headroom = Headroom(samples(*[self.slowdowns.pop(0)] * 30), stretch=run.stretch)
        incident = an_observation(
            end=EndByCondition(reached={"restarts": 2}), restarts=2, exceptions=(LOOP,), failures=("a", "b")
        )
        observed = {"incident": incident, "fixed": an_observation()}
        arms: dict[ArmName, JudgedArm] = {
            arm: JudgedArm.of(attempt.scenario, arm, observed[arm], headroom) for arm in ROLES
        }
        return judged(tells, arms, run, duration_s=1.0, command="")


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunOptions:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return RunOptions(ROLES, tmp_path / "runs", keep=False, repeat="devkit scenario run an-incident --seed 7")


def run(
    scenario: Scenario, options: RunOptions, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, Any], Path, str]:
    monkeypatch.setattr(Attempt, "_play_on_stack", lambda attempt, *rest: machine.play(attempt, *rest))
    out = io.StringIO()
    finished = run_scenario(scenario, options, Progress(out), on_keep=lambda *_: None)
    return json.loads((finished.directory / "result.json").read_text()), finished.directory, out.getvalue()


def test_with_time_it_is_played_once(scenario: Scenario, options: RunOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(1.5)
    result, directory, _ = run(scenario, options, machine, monkeypatch)
    assert (result["exit_code"], len(machine.attempts)) == (0, 1)
    assert (result["headroom"]["stretch"], result["headroom"]["first_play"]) == (1, None)
    assert not (directory / "first-play").exists()


def test_short_of_time_both_arms_are_played_again_and_slower(
    scenario: Scenario, options: RunOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(7, 7)
    result, directory, output = run(scenario, options, machine, monkeypatch)
    assert [attempt.stretch for attempt in machine.attempts] == [None, 2]
    assert (result["exit_code"], result["headroom"]["stretch"], result["headroom"]["stretch_by"]) == (0, 2, "repeat")
    first = result["headroom"]["first_play"]
    assert (first["directory"], first["stretch"]) == ("first-play", 1)
    assert "the machine was short of time: 7.0 times slower" in first["reasons"][0]
    aside = directory / "first-play"
    for name in ("events.jsonl", "result.json", "report.html", "junit.xml", "incident"):
        assert (aside / name).exists()
        assert (directory / name).exists()
    assert json.loads((aside / "result.json").read_text())["exit_code"] == 3
    assert "played again, 2 times slower" in " ".join(output.split())


def test_interrupted_in_the_second_play_it_says_where_the_first_is(
    scenario: Scenario, options: RunOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, out = Machine(7), io.StringIO()

    def play(attempt: Attempt, tells: RunMetadata, *rest: Any) -> Played:
        if machine.attempts:
            raise KeyboardInterrupt
        return machine.play(attempt, tells, *rest)

    monkeypatch.setattr(Attempt, "_play_on_stack", play)
    with pytest.raises(KeyboardInterrupt):
        run_scenario(scenario, options, Progress(out), on_keep=lambda *_: None)
    (aside,) = options.out.glob("*/*/first-play")
    assert f"interrupted; the first play was finished: its result and its report are in {aside}" in out.getvalue()


def test_short_again_it_is_inconclusive_and_is_not_played_a_third_time(
    scenario: Scenario, options: RunOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(7, 30)
    result, _, _ = run(scenario, options, machine, monkeypatch)
    assert (result["exit_code"], len(machine.attempts)) == (3, 2)
    assert "the scenario leaves 5 x 2 (the stretch)" in result["reasons"][0]


@pytest.mark.parametrize(
    ("command", "chosen", "text"),
    [
        (False, None, "all times are 2 times the file's, to make up for that"),
        (False, 3, "all times are 3 times the file's, as --stretch says"),
        (True, None, "times are the file's, as no stretch reaches a command's own settings"),
        (
            True,
            3,
            "all times are 3 times the file's, as --stretch says, though no stretch reaches a command's own settings",
        ),
        (True, 1, "times are the file's, as --stretch says"),
    ],
)
def test_what_is_chosen_is_said_with_what_no_stretch_reaches(
    scenario: Scenario, options: RunOptions, tmp_path: Path, command: bool, chosen: int | None, text: str
) -> None:
    instead = CommandProgram(CommandLine(("mine",), tmp_path)) if command else None
    attempt = Attempt(
        scenario, replace(options, instead=instead, stretch=chosen), tmp_path, Progress(io.StringIO()), lambda *_: None
    )
    busy = IDLE.model_copy(update={"slowdown": 4.9})
    assert attempt._headroom(busy).text == f"the machine is 4.9 times slower than when it is free; {text}"


@pytest.mark.parametrize("stretch_by", ["command line", "program"])
def test_a_stretch_that_somebody_chose_stays(
    scenario: Scenario, options: RunOptions, monkeypatch: pytest.MonkeyPatch, stretch_by: StretchBy
) -> None:
    machine = Machine(7, stretch_by=stretch_by)
    result, _, _ = run(scenario, options, machine, monkeypatch)
    assert (result["exit_code"], len(machine.attempts)) == (3, 1)


def test_what_a_run_with_a_result_leaves(
    scenario: Scenario, options: RunOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, directory, output = run(scenario, options, Machine(1), monkeypatch)
    for name in ("result.json", "report.html", "junit.xml", "summary.md", "events.jsonl"):
        assert (directory / name).stat().st_size > 0
    assert "could not be written" not in output
    metadata, incident = read_run(directory).metadata, scenario.incident
    told = (metadata.scenario, metadata.title, metadata.reference, metadata.quote, metadata.preserves)
    assert told == ("an-incident", scenario.title, incident.reference, incident.quote, scenario.preserves)
    assert (metadata.time_scale, metadata.repeat) == (scenario.time_scale, options.repeat)
    assert "content_limit.measure" in metadata.config_difference


@pytest.mark.parametrize("error", [StackError("kafka ended with exit code 1"), KeyboardInterrupt()], ids=repr)
def test_a_run_that_breaks_off_or_is_killed_leaves_no_success(
    scenario: Scenario, options: RunOptions, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """A kill leaves no time to write, so what stands there beforehand counts."""

    def play(*_: Any) -> Played:
        raise error

    monkeypatch.setattr(Attempt, "_play_on_stack", play)
    with pytest.raises(type(error)):
        run_scenario(scenario, options, Progress(io.StringIO()), on_keep=lambda *_: None)
    (directory,) = (options.out / "an-incident").iterdir()
    assert ET.parse(directory / "junit.xml").getroot().attrib["errors"] == "3"
    first = json.loads((directory / "events.jsonl").read_text().splitlines()[0])
    assert (first["kind"], first["arms"]) == ("run", ["incident", "fixed"])
    assert not (directory / "result.json").exists()
    if isinstance(error, StackError):
        assert "kafka ended with exit code 1" in (directory / "report.html").read_text()
        assert "no verdict" in (directory / "summary.md").read_text()


def test_each_run_has_the_next_seed_and_one_that_broke_off_is_inconclusive() -> None:
    def play(seed: int) -> FinishedRun:
        if seed == 8:
            raise StackError("Kafka ended: no room\nits last lines")
        return FinishedRun(a_good_result(), Path(f"runs/{seed}"))

    runs = list(play_series(play, 7, 3))
    assert [(run.seed, run.exit_code, run.reason, run.directory) for run in runs] == [
        (7, 0, "", "runs/7"),
        (8, 3, "Kafka ended: no room", None),
        (9, 0, "", "runs/9"),
    ]


def test_a_run_keeps_what_its_expectations_held_against_a_bound() -> None:
    result = a_good_result()
    restarts = ExpectationResult(
        name="restarts", expected="at least 2", measured="2", holds=True, figures=(BoundedFigure(value=2, at_least=2),)
    )
    arm = result.arms["incident"].model_copy(update={"expectations": (restarts,)})
    measured = result.model_copy(update={"arms": {"incident": arm}})
    (run,) = play_series(lambda _seed: FinishedRun(measured, Path("runs/7")), 7, 1)
    assert [(one.arm, one.expectation, one.figure.value) for one in run.figures] == [("incident", "restarts", 2)]


def result_of(scenario: Scenario, observations: dict[ArmName, ArmObservation]) -> Result:
    played = {arm: JudgedArm.of(scenario, arm, observation) for arm, observation in observations.items()}
    return judged(run_metadata(resolve(scenario), OPTIONS, BEGAN), played, None, duration_s=34.56789, command="").result


def both(**changes: Any) -> dict[ArmName, ArmObservation]:
    incident = an_observation(end=EndByCondition(reached={"replays": 2}), restarts=2, exceptions=(LOOP,), drained=False)
    return {"incident": incident, "fixed": an_observation(**changes)}


def test_reproduced_and_fixed(scenario: Scenario) -> None:
    result = result_of(scenario, both())
    assert (result.outcome, result.exit_code, result.reasons) == ("reproduced and fixed", 0, ())
    assert (result.scenario, result.seed, result.began, result.duration_s) == ("an-incident", 7, BEGAN, 34.568)
    incident = result.arms["incident"]
    assert (incident.holds, incident.restarts, incident.ended_by) == (True, 2, "replays 2")
    assert incident.exceptions == ("process 1: RecordTooLargeException: The message is 23048294 bytes",)
    assert [item.name for item in incident.expectations] == ["restarts", "exception"]
    assert result.arms["fixed"].duration_s == 12.346


def test_an_arm_holds_when_all_its_expectations_do(scenario: Scenario) -> None:
    result = result_of(scenario, both(drained=False))
    fixed = result.arms["fixed"]
    assert [(item.name, item.holds) for item in fixed.expectations] == [("drained", False), ("audit", True)]
    assert not fixed.holds
    assert (result.outcome, result.exit_code) == ("fix does not hold", 1)


def test_a_fault_that_no_request_met_did_not_fire(scenario: Scenario) -> None:
    silent = some_evidence(fired=False, requests=0, completed=0)
    result = result_of(scenario, both(evidence=(silent,)))
    assert (result.outcome, result.exit_code) == ("inconclusive", 3)
    assert result.reasons == ("fixed: fault 'huge page' matched no request",)
    assert [item.fired for item in result.fault_evidence["fixed"]] == [False]


def test_an_arm_by_itself(scenario: Scenario) -> None:
    result = result_of(scenario, {"fixed": an_observation()})
    assert (result.outcome, result.exit_code, list(result.arms)) == ("fixed arm holds", 0, ["fixed"])


def test_what_is_known_of_an_arm_is_kept_when_the_kit_fails_in_the_next(scenario: Scenario) -> None:
    played = {"incident": JudgedArm.of(scenario, "incident", both()["incident"])}
    error = PartError("Kafka did not answer", part="kafka", hint="read its log")
    result = broken_off(run_metadata(resolve(scenario), OPTIONS, BEGAN), played, None, error, duration_s=3, command="")
    assert (result.outcome, result.exit_code) == ("inconclusive", 3)
    (reason,) = result.reasons
    assert reason.startswith("the kit could not go on, before the fixed arm had ended: Kafka did not answer")
    assert (list(result.arms), result.arms["incident"].holds) == (["incident"], True)
    lines = "\n".join(verdict_lines(result, Path("runs/one")))
    assert "incident arm holds" in lines
    assert f"next: see to that, then `{OPTIONS.repeat}`" in lines
    assert Result.model_validate_json(result.model_dump_json()) == result


def test_the_difference_between_the_arms_is_in_the_result(scenario: Scenario) -> None:
    difference = result_of(scenario, both()).config_difference
    assert {key: (one["incident"], one["fixed"]) for key, one in difference.items()} == {
        "content_limit.measure": ("content_length", "decoded"),
        "record_limit.policy": ("none", "serialized"),
    }


@pytest.mark.parametrize("package", ["python", "system", "pyspark", "kafka-python"])
def test_the_versions_that_decide_are_in_the_result(scenario: Scenario, package: str) -> None:
    assert result_of(scenario, both()).versions[package]


def test_what_was_not_seen_makes_an_arm_that_cannot_be_judged(scenario: Scenario) -> None:
    result = result_of(scenario, both(not_observable=frozenset({"sources"})))
    assert [(item.name, item.holds) for item in result.arms["fixed"].expectations] == [
        ("drained", True),
        ("audit", None),
    ]
    assert result.arms["fixed"].holds is None
    assert (result.outcome, result.exit_code) == ("inconclusive", 3)
    assert result.reasons[0].startswith("fixed: audit: expected clean, measured n/a: not observable")


def test_one_broken_expectation_decides_whatever_is_not_known(scenario: Scenario) -> None:
    result = result_of(scenario, both(not_observable=frozenset({"sources"}), drained=False))
    assert (result.arms["fixed"].holds, result.outcome) == (False, "fix does not hold")


def test_caveats_reach_the_result(scenario: Scenario) -> None:
    result = result_of(scenario, both(caveats=("fault 'x' was put in by hand",)))
    assert (result.outcome, result.reasons) == ("inconclusive", ("fixed: fault 'x' was put in by hand",))
