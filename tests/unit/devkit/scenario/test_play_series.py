from pathlib import Path

from devkit.errors import StackError
from devkit.scenario.play_series import play_series
from devkit.scenario.run import FinishedRun
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
