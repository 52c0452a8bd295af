"""A scenario played several times, with a seed more each time.

Other seeds are other pages, contents and draws: a verdict that depends on one of them differs from run to run.
"""

from collections.abc import Callable, Iterator

from devkit.errors import INCONCLUSIVE, DevkitError
from devkit.play.run import FinishedRun
from devkit.report.margins import figures_of
from devkit.report.next_step import next_step
from devkit.report.run_series import SeriesRun


def play_series(play: Callable[[int], FinishedRun], first_seed: int, runs: int) -> Iterator[SeriesRun]:
    """Each run as soon as it is over. One that the harness could not finish counts as inconclusive."""
    for seed in range(first_seed, first_seed + runs):
        try:
            finished = play(seed)
        except DevkitError as error:
            yield SeriesRun(
                seed=seed,
                outcome="inconclusive",
                exit_code=INCONCLUSIVE,
                reason=str(error).partition("\n")[0],
                duration_s=0.0,
                directory=None,
            )
            continue
        result = finished.result
        yield SeriesRun(
            seed=seed,
            outcome=result.outcome,
            exit_code=result.exit_code,
            reason=next(iter(result.reasons), ""),
            next_step=next_step(result) if result.exit_code == INCONCLUSIVE else "",
            duration_s=result.duration_s,
            directory=str(finished.directory),
            figures=figures_of(result),
        )
