"""A whole run: the arms are played, and once more where the machine was short of time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from devkit.headroom.headroom_figures import FirstPlay
from devkit.observe.arm_observation import ComparedArm
from devkit.observe.arm_role import TWO_ARMS, ArmName
from devkit.play.attempt import Attempt
from devkit.play.options import OnKeep, RunOptions
from devkit.play.repeat import set_aside
from devkit.play.run_directory import make_run_directory
from devkit.report.progress import Progress
from devkit.report.result import Result
from devkit.scenario.model import Scenario


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
