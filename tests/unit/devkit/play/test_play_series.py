from pathlib import Path

from devkit.errors import StackError
from devkit.observe.bounded_figure import BoundedFigure
from devkit.play.run import FinishedRun, play_series
from devkit.report.expectation_result import ExpectationResult
from tests.unit.devkit.report.conftest import a_good_result


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
