"""A whole run: the arms are played, and once more if the machine was short of time. A series is several runs."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from devkit.errors import INCONCLUSIVE, DevkitError
from devkit.headroom.headroom_figures import FirstPlay
from devkit.observe.arm_observation import ComparedArm
from devkit.observe.arm_role import TWO_ARMS, ArmName
from devkit.play.attempt import Attempt
from devkit.play.options import OnKeep, RunOptions
from devkit.play.run_directory import make_run_directory, set_aside
from devkit.programs.program_context import Reporter
from devkit.report.margins import figures_of
from devkit.report.next_step import next_step
from devkit.report.progress import Progress
from devkit.report.result import Result
from devkit.report.run_series import SeriesRun
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve


@dataclass(frozen=True)
class FinishedRun:
    """The result, the directory with the evidence, and what was observed of each arm."""

    result: Result
    directory: Path
    compared: Mapping[ArmName, ComparedArm] = field(default_factory=dict)


def run_scenario(scenario: Scenario, options: RunOptions, progress: Progress, *, on_keep: OnKeep) -> FinishedRun:
    """Play the arms and judge them. Raises DevkitError when the harness fails; nothing of the run is left then."""
    directory = make_run_directory(options.out, scenario.name)
    first = Attempt(scenario, options, directory, progress, on_keep).play()
    if first.play_again is None:
        return FinishedRun(first.result, directory, first.compared)
    aside = set_aside(directory)
    before = FirstPlay(directory=aside.name, stretch=first.stretch, reasons=first.result.reasons)
    progress.line("headroom", f"{first.result.reasons[0]}")
    every = "both" if len(options.arms) == len(TWO_ARMS) else "all"
    progress.line(
        "headroom", f"{every} arms are played again, {first.play_again} times slower; the first play is in {aside}"
    )
    again = Attempt(scenario, options, directory, progress, on_keep, stretch=first.play_again, first_play=before)
    try:
        second = again.play()
        return FinishedRun(second.result, directory, second.compared)
    except KeyboardInterrupt:
        progress.line("headroom", f"interrupted; the first play was finished: its result and its report are in {aside}")
        raise


def make_next_run_faster(scenario: Scenario, options: RunOptions, result: Result, say: Reporter) -> None:
    """After the verdict, which it does not change; an interrupt ends it.

    Nothing is done beside a kept stack, which needs the memory, or after a run that was inconclusive or short of time:
    the machine may be busy.
    """
    if options.keep or result.exit_code == INCONCLUSIVE or _was_short_of_time(result):
        return
    with contextlib.suppress(KeyboardInterrupt):
        for program in resolve(scenario, options.instead).programs.values():
            program.after_verdict(say)


def _was_short_of_time(result: Result) -> bool:
    """In any play, even if the verdict does not rest on it."""
    is_second = result.headroom is not None and result.headroom.first_play is not None
    arms = result.arms.values()
    return is_second or any(arm.short or any(item.short for item in arm.expectations) for arm in arms)


def play_series(play: Callable[[int], FinishedRun], first_seed: int, runs: int) -> Iterator[SeriesRun]:
    """Play the scenario with one seed after the other, and yield each run when it is over.

    Other seeds are other pages, contents and draws: a verdict that depends on them differs from run to run. A run that
    the harness could not finish counts as inconclusive.
    """
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
