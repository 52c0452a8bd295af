import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devkit.play import run as run_module
from devkit.play.ablate import Ablated, AblationRun
from devkit.play.options import RunOptions
from devkit.play.run import FinishedRun
from devkit.programs.spark.program import SparkProgram
from devkit.report.ablation import AblatedDifference, Ablation
from devkit.report.result import Result
from devkit.report.series_directory import read_series
from devkit.scenario.model import Scenario
from tests.unit.devkit.cli.conftest import Devkit
from tests.unit.devkit.report.conftest import a_good_result

Asked = list[tuple[Scenario, RunOptions]]
"""Which runs were asked for."""


class TestList:
    def test_names_titles_and_references(self, devkit: Devkit, scenarios: Path) -> None:
        finished = devkit("scenario", "list")
        assert (finished.code, finished.out) == (0, f"{'an-incident':<24} A page that is too large (T1)\n")

    def test_of_the_checkout_where_there_are_none_here(self, devkit: Devkit) -> None:
        finished = devkit("scenario", "list")
        shipped = sorted(path.stem for path in (Path(__file__).parents[4] / "scenarios").glob("*.yaml"))
        assert [line.split()[0] for line in finished.out.splitlines()] == shipped

    def test_of_an_empty_directory(self, devkit: Devkit, here: Path) -> None:
        (here / "scenarios").mkdir()
        finished = devkit("scenario", "list")
        assert (finished.code, finished.err) == (3, "error: there is no scenario in scenarios\n")

    def test_with_an_invalid_file_among_them(self, devkit: Devkit, scenarios: Path) -> None:
        (scenarios / "bad.yaml").write_text("name: bad\n")
        finished = devkit("scenario", "list")
        assert finished.code == 2
        assert "scenarios/bad.yaml:1:1: title: is missing" in finished.err


class TestCheck:
    def test_says_what_it_would_run(self, devkit: Devkit, scenarios: Path) -> None:
        finished = devkit("scenario", "check", "an-incident")
        assert (finished.code, finished.err) == (0, "")
        assert finished.out == (
            "scenarios/an-incident.yaml: valid\n"
            "  161 events, 1 fault, 4 expectations\n"
            "  content_limit.measure: content_length (incident) → decoded (fixed)\n"
            "  record_limit.policy: none (incident) → serialized (fixed)\n"
        )

    def test_warns_of_what_may_be_meant(self, devkit: Devkit, scenarios: Path) -> None:
        path = scenarios / "an-incident.yaml"
        path.write_text(path.read_text().replace("sink: {", "sink: { topic: mine,"))
        finished = devkit("scenario", "check", "an-incident")
        assert finished.code == 0
        assert finished.err.startswith("scenarios/an-incident.yaml:24:11: warning: pipeline.sink.topic: ")
        assert finished.out.startswith("scenarios/an-incident.yaml: valid\n")

    def test_takes_a_file(self, devkit: Devkit, scenarios: Path) -> None:
        assert devkit("scenario", "check", str(scenarios / "an-incident.yaml")).code == 0

    def test_says_what_was_set_otherwise_than_in_the_file(self, devkit: Devkit, scenarios: Path) -> None:
        finished = devkit("scenario", "check", "an-incident", "--set", "arms.fixed.batch.max_offsets=10")
        assert finished.code == 0
        assert "valid\n  set: arms.fixed.batch.max_offsets: not set → 10\n" in finished.out
        assert "  batch.max_offsets: 50 (incident) → 10 (fixed)\n" in finished.out

    def test_of_an_invalid_file_says_where(self, devkit: Devkit, scenarios: Path) -> None:
        path = scenarios / "an-incident.yaml"
        path.write_text(path.read_text().replace("for: 8s", "for: 8 sec").replace("max_offsets", "max_offset"))
        finished = devkit("scenario", "check", "an-incident")
        assert finished.code == 2
        assert finished.err == (
            "error: scenarios/an-incident.yaml:11:3: traffic.for: unknown unit 'sec' (got '8 sec'); "
            "write 8s (us, ms, s, m, h, d)\n"
        )


class TestNew:
    def test_says_where_the_file_is_and_what_to_type_next(self, devkit: Devkit, here: Path) -> None:
        finished = devkit("scenario", "new", "mine")
        assert (finished.code, finished.err) == (0, "")
        assert finished.out == (
            "wrote mine.yaml\nnext: devkit scenario check mine.yaml\n      devkit scenario run mine.yaml\n"
        )
        assert devkit("scenario", "check", "mine.yaml").code == 0

    def test_of_another_scenario_and_elsewhere(self, devkit: Devkit, here: Path, scenarios: Path) -> None:
        assert devkit("scenario", "new", "mine", "--from", "an-incident", "--to", "scenarios").code == 0
        assert "mine" in devkit("scenario", "list").out

    def test_refuses_to_overwrite(self, devkit: Devkit, here: Path) -> None:
        (here / "mine.yaml").write_text("")
        finished = devkit("scenario", "new", "mine")
        assert (finished.code, (here / "mine.yaml").read_text()) == (2, "")


def test_a_file_that_is_not_there_and_like_none(devkit: Devkit, scenarios: Path) -> None:
    finished = devkit("scenario", "check", "zzz/zzz.yaml")
    assert finished.code == 2
    assert finished.err == (
        "error: there is no scenario file zzz/zzz.yaml\n"
        "hint: `devkit scenario new zzz`, or `./justw new zzz`, writes one here; "
        f"`devkit scenario list` shows those that have a name; the path is from {scenarios.parent}\n"
    )


class TestRun:
    @pytest.fixture
    def asked(self, scenarios: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
        """Runs are not played; what was asked for is remembered."""
        asked: Asked = []

        def run_scenario(scenario: Scenario, options: RunOptions, progress: Any, *, on_keep: object) -> FinishedRun:
            asked.append((scenario, options))
            progress.line("stack", "starting")
            result = a_good_result()
            if "incident" not in options.arms:
                result = result.model_copy(update={"outcome": "fixed arm does not hold", "exit_code": 1})
            return FinishedRun(result, Path("runs/an-incident/now"))

        monkeypatch.setattr(run_module, "run_scenario", run_scenario)
        monkeypatch.setattr(SparkProgram, "after_verdict", lambda _program, _say: None)
        return asked

    def test_both_arms_by_default(self, devkit: Devkit, asked: Asked) -> None:
        finished = devkit("scenario", "run", "an-incident")
        ((scenario, options),) = asked
        assert (options.arms, options.out, options.keep) == (("incident", "fixed"), Path("runs"), False)
        assert options.repeat == "devkit scenario run an-incident --seed 7"
        assert scenario.traffic.seed == 7
        assert finished.code == 0
        assert "starting" in finished.out
        assert "REPRODUCED AND FIXED" in finished.out

    def test_a_single_arm_another_seed_and_its_exit_code(self, devkit: Devkit, asked: Asked) -> None:
        finished = devkit("scenario", "run", "an-incident", "--arm", "fixed", "--seed", "0")
        ((scenario, options),) = asked
        assert (options.arms, scenario.traffic.seed) == (("fixed",), 0)
        assert options.repeat == "devkit scenario run an-incident --seed 0 --arm fixed"
        assert finished.code == 1

    def test_values_set_otherwise(self, devkit: Devkit, asked: Asked) -> None:
        changes = ("--set", "traffic.rate=10/s", "--set", "arms.fixed.batch.max_offsets=9")
        devkit("scenario", "run", "an-incident", *changes)
        ((scenario, options),) = asked
        assert scenario.overlay("fixed")["batch"] == {"max_offsets": 9}
        assert [str(change) for change in options.changes] == [
            "traffic.rate: 20/s → 10/s",
            "arms.fixed.batch.max_offsets: not set → 9",
        ]
        assert "--set traffic.rate=10/s --set arms.fixed.batch.max_offsets=9" in options.repeat

    def test_a_stretch_of_ones_own(self, devkit: Devkit, asked: Asked) -> None:
        devkit("scenario", "run", "an-incident")
        devkit("scenario", "run", "an-incident", "--stretch", "3")
        assert [options.stretch for _, options in asked] == [None, 3]
        assert asked[1][1].repeat == "devkit scenario run an-incident --seed 7 --stretch 3"
        assert devkit("scenario", "run", "an-incident", "--stretch", "0").code == 2

    def test_several_runs_with_a_seed_more_each_time(self, devkit: Devkit, asked: Asked) -> None:
        finished = devkit("scenario", "run", "an-incident", "--runs", "3", "--seed", "11")
        assert [scenario.traffic.seed for scenario, _ in asked] == [11, 12, 13]
        assert asked[2][1].repeat == "devkit scenario run an-incident --seed 13"
        assert finished.code == 0
        assert "exit 0, holds:         3 of 3, 100%  (44% to 100% with 95% confidence)\n" in finished.out
        (directory,) = Path("runs/an-incident").glob("series-*")
        assert finished.out.endswith(f"evidence: {directory}\n")
        series = read_series(directory)
        assert ([run.seed for run in series.runs], series.planned) == ([11, 12, 13], 3)
        assert series.repeat == "devkit scenario run an-incident --seed 11 --runs 3"
        assert not Path("runs/latest").exists()  # which is for runs

    def test_an_interrupted_series_has_what_was_played(
        self, devkit: Devkit, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plain = run_module.run_scenario

        def run_scenario(scenario: Scenario, *arguments: Any, on_keep: Any) -> FinishedRun:
            if scenario.traffic.seed == 12:
                raise KeyboardInterrupt
            return plain(scenario, *arguments, on_keep=on_keep)

        monkeypatch.setattr(run_module, "run_scenario", run_scenario)
        finished = devkit("scenario", "run", "an-incident", "--runs", "3", "--seed", "11")
        assert finished.code == 130
        (directory,) = Path("runs/an-incident").glob("series-*")
        assert [run.seed for run in read_series(directory).runs] == [11]
        assert "interrupted: 2 of 3 runs were not played" in finished.out

    def test_the_exit_code_of_several_is_the_worst(self, devkit: Devkit, asked: Asked) -> None:
        finished = devkit("scenario", "run", "an-incident", "--runs", "2", "--arm", "fixed", "--json")
        assert finished.code == 1
        assert [one["exit_code"] for one in json.loads(finished.out)["runs"]] == [1, 1]

    @pytest.fixture
    def ablated(self, monkeypatch: pytest.MonkeyPatch) -> list[AblationRun]:
        """What was asked for, with nothing played: of one difference it is not clear whether the fix needs it."""
        ablated: list[AblationRun] = []

        def play(ablating: AblationRun) -> Result:
            ablated.append(ablating)
            one = AblatedDifference(difference="record_limit.policy", incident="none", fixed="serialized")
            found = Ablation(arm="fixed", against="incident", as_played=(), differences=(one,))
            return a_good_result().model_copy(update={"ablation": found})

        monkeypatch.setattr(AblationRun, "play", play)
        return ablated

    def test_what_the_fix_needs_is_told_after_the_verdict(
        self, devkit: Devkit, asked: Asked, ablated: list[AblationRun]
    ) -> None:
        finished = devkit("scenario", "run", "an-incident", "--ablate", "--seed", "9")
        assert finished.out.index("REPRODUCED AND FIXED") < finished.out.index("what fixed needs of its differences")
        assert (finished.code, len(asked), ablated[0].ablated) == (3, 1, Ablated("fixed", "incident"))
        printed = Result.model_validate_json(devkit("scenario", "run", "an-incident", "--ablate", "--json").out)
        assert printed.ablation is not None

    def test_a_run_that_did_not_pass_has_no_fix_to_take_apart(
        self, devkit: Devkit, outcome_of_runs: dict[str, Any], ablated: list[AblationRun]
    ) -> None:
        outcome_of_runs.update(outcome="not reproduced", exit_code=1)
        assert devkit("scenario", "run", "an-incident", "--ablate").code == 1
        assert ablated == []

    @pytest.fixture
    def outcome_of_runs(self, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
        """What results are changed to."""
        outcome: dict[str, Any] = {}
        plain = run_module.run_scenario

        def run_scenario(*arguments: Any, on_keep: Any) -> FinishedRun:
            finished = plain(*arguments, on_keep=on_keep)
            return replace(finished, result=finished.result.model_copy(update=outcome))

        monkeypatch.setattr(run_module, "run_scenario", run_scenario)
        return outcome

    def test_json_alone_on_standard_output(self, devkit: Devkit, asked: Asked) -> None:
        finished = devkit("scenario", "run", "an-incident", "--json")
        assert Result.model_validate(json.loads(finished.out)) == a_good_result()
        assert "starting" in finished.err
        assert "REPRODUCED AND FIXED" in finished.err

    def test_places_and_keeping(self, devkit: Devkit, asked: Asked, scenarios: Path) -> None:
        """What repeats it can be pasted."""
        scenarios.joinpath("an-incident.yaml").rename(scenarios / "my own.yaml")
        devkit("scenario", "run", "scenarios/my own.yaml", "--out", "my runs", "--keep")
        ((_, options),) = asked
        assert (options.out, options.keep) == (Path("my runs"), True)
        assert options.repeat.startswith("devkit scenario run 'scenarios/my own.yaml' ")

    def test_unchecked(self, devkit: Devkit, asked: Asked, scenarios: Path) -> None:
        path = scenarios / "an-incident.yaml"
        path.write_text(path.read_text().replace("deadline: 90s", "deadline: 5s"))
        refused = devkit("scenario", "run", "an-incident")
        assert (refused.code, asked) == (2, [])
        assert "hint: `devkit scenario run --unchecked` plays it all the same" in refused.err
        assert devkit("scenario", "run", "an-incident", "--unchecked").code == 0
        assert asked[0][1].repeat == "devkit scenario run an-incident --seed 7 --unchecked"


class TestAfterTheVerdict:
    """What makes the next run faster: the verdict has been told when it begins, and stands however it ends."""

    @pytest.fixture
    def outcome(self, scenarios: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
        """What the result of the run is changed to."""
        outcome: dict[str, Any] = {}

        def run_scenario(_scenario: Scenario, _options: RunOptions, _progress: Any, *, on_keep: object) -> FinishedRun:
            return FinishedRun(a_good_result().model_copy(update=outcome), Path("runs/an-incident/now"))

        monkeypatch.setattr(run_module, "run_scenario", run_scenario)
        return outcome

    @pytest.fixture
    def printed_before(
        self, outcome: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> list[str]:
        """What was printed when it began; it is then interrupted."""
        printed: list[str] = []

        def after_verdict(_program: SparkProgram, say: Callable[[str], None]) -> None:
            printed.append(capsys.readouterr().out)
            say("the next run starts faster")
            raise KeyboardInterrupt

        monkeypatch.setattr(SparkProgram, "after_verdict", after_verdict)
        return printed

    @pytest.mark.parametrize(("verdict", "code"), [("reproduced and fixed", 0), ("not reproduced", 1)])
    def test_an_interrupt_leaves_the_verdicts_exit_code(
        self, devkit: Devkit, outcome: dict[str, Any], printed_before: list[str], verdict: str, code: int
    ) -> None:
        outcome.update(outcome=verdict, exit_code=code)
        finished = devkit("scenario", "run", "an-incident")
        assert finished.code == code
        assert verdict.upper() in printed_before[0]
        assert (finished.out, finished.err) == ("", "the next run starts faster\n")

    def test_json_is_complete_before_it(self, devkit: Devkit, printed_before: list[str]) -> None:
        devkit("scenario", "run", "an-incident", "--json")
        assert Result.model_validate(json.loads(printed_before[0])) == a_good_result()

    @pytest.mark.parametrize(
        ("changed", "options"),
        [
            ({"outcome": "inconclusive", "exit_code": 3}, ()),
            ({}, ("--keep",)),
            ({}, ("--pipeline", "true")),
        ],
        ids=["too busy perhaps", "the kept stack has the memory", "no Spark was run"],
    )
    def test_where_it_is_left_out(
        self,
        devkit: Devkit,
        outcome: dict[str, Any],
        printed_before: list[str],
        changed: dict[str, Any],
        options: tuple[str, ...],
    ) -> None:
        outcome.update(changed)
        devkit("scenario", "run", "an-incident", *options)
        assert printed_before == []


class TestRefusedBeforeAnythingStarts:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--pause-at", "traffic"), "--pause-at without a terminal would wait for ever"),
            (("--pause-at", "nowhere", "--pause-limit", "1s"), "--pause-at nowhere: there is no such point"),
            (("--pause-at", "stack", "--pause-limit", "5"), "--pause-limit: "),
            (("--pipeline", "no-such-program-at-all"), "--pipeline: 'no-such-program-at-all' is no program"),
            (("--runs", "2", "--ablate"), "--ablate is of one run: leave out --runs"),
            (("--ablate", "--arm", "fixed"), "--ablate: an incident arm has to be played as well"),
            (("--runs", "2", "--keep"), "--runs plays one run after the other: leave out --keep"),
            (("--pipeline", "true", "--debug", "driver"), "--debug works for the kit's own pipeline only"),
        ],
    )
    def test_it_is_wrong_usage(
        self, devkit: Devkit, scenarios: Path, here: Path, options: tuple[str, ...], message: str
    ) -> None:
        finished = devkit("scenario", "run", "an-incident", *options)
        assert finished.code == 2
        assert f"error: {message}" in finished.err
        assert not (here / "runs").exists()


def test_a_new_scenario_begins_with_one_thing(devkit: Devkit) -> None:
    finished = devkit("scenario", "new", "mine", "--from", "an-incident", "--from-capture", "c.jsonl")
    assert (finished.code, "--from and --from-capture each say what to begin with" in finished.err) == (2, True)
    finished = devkit("scenario", "new", "mine", "--from-capture", "c.jsonl")
    assert (finished.code, "the capture c.jsonl cannot be read" in finished.err) == (2, True)
