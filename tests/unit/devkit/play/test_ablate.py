import io
from pathlib import Path
from typing import Any

import pytest

from devkit.errors import StackError, UsageError
from devkit.observe.arm_observation import ComparedArm
from devkit.observe.arm_role import Roles
from devkit.play import ablate
from devkit.play.ablate import Ablated, AblationRun
from devkit.play.attempt import Attempt, BaselineRun
from devkit.play.options import RunOptions
from devkit.play.run import FinishedRun
from devkit.play.run_result import Played
from devkit.report.ablation import NOT_PLAYED_YET
from devkit.report.progress import Progress
from devkit.report.result import CauseResult, Result
from devkit.scenario.load import load_file
from tests.unit.devkit.conftest import TEXT
from tests.unit.devkit.observed import an_observation
from tests.unit.devkit.report import storm
from tests.unit.devkit.report.conftest import a_good_result

ROLES: Roles = {"incident": "incident", "burst": "incident", "fixed": "fixed", "hurried": "fixed"}


class TestWhichArm:
    def test_the_fixed_one_against_the_first_incident_arm(self) -> None:
        assert Ablated.of(("incident", "burst", "fixed"), ROLES) == Ablated("fixed", "incident")
        assert Ablated.of(("burst", "hurried"), ROLES) == Ablated("hurried", "burst")

    @pytest.mark.parametrize(
        ("arms", "message", "hint"),
        [
            (tuple(ROLES), "more than one fixed arm: fixed, hurried", "--arm fixed or --arm hurried"),
            (("fixed",), "an incident arm has to be played as well", "--arm"),
            (("incident",), "a fixed arm has to be played as well", "--arm"),
        ],
    )
    def test_where_that_is_not_known(self, arms: tuple[str, ...], message: str, hint: str) -> None:
        with pytest.raises(UsageError, match=message) as raised:
            Ablated.of(arms, ROLES)
        assert raised.value.hint is not None
        assert hint in raised.value.hint


class TestPlaying:
    @pytest.fixture
    def attempts(self, monkeypatch: pytest.MonkeyPatch) -> list[Attempt]:
        """Plays that come to an outcome by what was turned back, and nothing is started for."""
        attempts: list[Attempt] = []
        outcomes: dict[str, dict[str, Any]] = {
            "content_limit.measure": {"outcome": "fixed arm holds", "reasons": ()},
            "record_limit.policy": {"outcome": "fixed arm does not hold", "reasons": ("restarts: 2",), "exit_code": 1},
        }

        def play(attempt: Attempt) -> Played:
            attempts.append(attempt)
            assert attempt.baseline is not None
            if attempt.baseline.difference == "batch.max_offsets":
                raise StackError("Kafka ended\nits last words")
            return Played(a_good_result().model_copy(update=outcomes[attempt.baseline.difference]), None)

        monkeypatch.setattr(ablate.Attempt, "play", play)
        return attempts

    def ablating(self, tmp_path: Path, text: str = TEXT) -> AblationRun:
        path = tmp_path / "a.yaml"
        path.write_text(text)
        file = load_file(path, unchecked=True)
        directory = storm.write_run(tmp_path / "run")
        compared = {arm: ComparedArm(an_observation()) for arm in ("incident", "fixed")}
        run = FinishedRun(a_good_result(), directory, compared)
        options = RunOptions(("incident", "fixed"), tmp_path, keep=False, repeat="devkit scenario run a")
        return AblationRun(file, run, options, Ablated("fixed", "incident"), Progress(io.StringIO()))

    def test_each_difference_by_itself_and_the_fixed_arm_alone(self, attempts: list[Attempt], tmp_path: Path) -> None:
        text = TEXT.replace("record_limit: { policy: serialized }", "batch: { max_offsets: 9 }")
        ablation = self.ablating(tmp_path, text).play().ablation
        assert ablation is not None
        assert {one.difference: (one.needed, one.reason) for one in ablation.differences} == {
            "batch.max_offsets": ("unclear", "Kafka ended"),
            "content_limit.measure": ("no", ""),
            "record_limit.policy": ("yes", ""),
        }
        assert {attempt.options.arms for attempt in attempts} == {("fixed",)}
        assert {tuple(attempt.baseline.compared) for attempt in attempts if attempt.baseline} == {("incident",)}
        assert [str(change) for attempt in attempts for change in attempt.options.changes] == [
            "arms.fixed.batch.max_offsets: 9 → not set",
            "arms.fixed.content_limit.measure: not set → content_length",
            "arms.fixed.record_limit.policy: not set → none",
        ]
        measured = {one.difference: len(one.expectations) for one in ablation.differences}
        assert measured == {"batch.max_offsets": 0, "content_limit.measure": 2, "record_limit.policy": 2}
        written = Result.model_validate_json((tmp_path / "run" / "result.json").read_bytes())
        assert written.ablation == ablation
        assert written.repeat == "devkit scenario run a --ablate"
        assert "What the fix needs" in (tmp_path / "run" / "report.html").read_text()

    def test_what_is_known_stays_when_it_is_interrupted(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def play(attempt: Attempt) -> Played:
            assert attempt.baseline is not None
            if attempt.baseline.difference == "content_limit.measure":
                raise KeyboardInterrupt
            return Played(a_good_result().model_copy(update={"outcome": "fixed arm holds"}), None)

        monkeypatch.setattr(ablate.Attempt, "play", play)
        with pytest.raises(KeyboardInterrupt):
            self.ablating(tmp_path).play()
        written = Result.model_validate_json((tmp_path / "run" / "result.json").read_bytes()).ablation
        assert written is not None
        assert {one.difference: (one.needed, one.reason) for one in written.differences} == {
            "record_limit.policy": ("no", ""),
            "content_limit.measure": ("unclear", NOT_PLAYED_YET),
        }

    def test_what_to_do_about_an_unclear_one_is_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        unclear = a_good_result().model_copy(
            update={"outcome": "inconclusive", "exit_code": 3, "reasons": ("nothing acted",), "fault_evidence": {}}
        )
        monkeypatch.setattr(ablate.Attempt, "play", lambda _attempt: Played(unclear, None))
        ablation = self.ablating(tmp_path).play().ablation
        assert ablation is not None
        assert {(one.needed, one.reason, one.next_step) for one in ablation.differences} == {
            ("unclear", "nothing acted", "give the scenario a fault, in `mock.rules` or in `timeline`")
        }

    def test_what_was_set_on_the_command_line_stays_in_what_is_played(
        self, attempts: list[Attempt], tmp_path: Path
    ) -> None:
        path = tmp_path / "b.yaml"
        path.write_text(TEXT)
        ablating = self.ablating(tmp_path)
        file = load_file(path, ["traffic.seed=9", "pipeline.batch.max_offsets=20"])
        AblationRun(file, ablating.run, ablating.options, ablating.ablated, ablating.progress).play()
        assert {attempt.scenario.pipeline["batch"]["max_offsets"] for attempt in attempts} == {20}

    def test_arms_that_the_file_does_not_tell_apart(self, attempts: list[Attempt], tmp_path: Path) -> None:
        text = f"{TEXT[: TEXT.index('arms:')]}arms: {{ incident: {{}}, fixed: {{}} }}\n{TEXT[TEXT.index('expect:') :]}"
        with pytest.raises(UsageError, match="fixed differs from incident in nothing"):
            self.ablating(tmp_path, text).play()


def test_the_turned_back_difference_need_not_be_shown_as_the_cause() -> None:
    result: Result = a_good_result()
    shown = CauseResult(cause="fault 'huge page'", shown=True, did="it acted")
    differs = CauseResult(cause="differs record_limit.policy", shown=False, did="no difference")
    (first, second) = BaselineRun(result, {}, "record_limit.policy").causes((shown, differs))
    assert (first, second.shown, second.did) == (shown, True, "turned back")
