"""A run that was short of time is played once more, slower, before it is inconclusive."""

import math
from collections.abc import Iterator
from pathlib import Path

from devkit.headroom.calibration import larger_stretch
from devkit.report.result import ArmResult, Result

FIRST_PLAY = "first-play"
"""Where the evidence of the first play goes, in the run's directory."""


def stretch_to_repeat(result: Result, *, short_of_time: bool) -> int | None:
    """The stretch to play again with; None where the verdict stands, or the stretch was chosen."""
    headroom = result.headroom
    if not short_of_time or headroom is None or headroom.stretch_by != "calibration":
        return None
    # Where the machine was not watched at all, its shortage is unknown.
    worst = max((slowdown for arm in result.arms.values() for slowdown in _short(arm)), default=math.inf)
    return larger_stretch(headroom.stretch, worst, headroom.margin)


def _short(arm: ArmResult) -> Iterator[float]:
    for item in arm.expectations:
        if item.short and item.slowdown is not None:
            yield item.slowdown
    if arm.short and arm.headroom is not None:
        yield arm.headroom.slowdown


def set_aside(directory: Path) -> Path:
    """Move what a play left in a run's directory into one of its own there. All its processes have ended."""
    aside = directory / FIRST_PLAY
    entries = list(directory.iterdir())
    aside.mkdir()
    for entry in entries:
        entry.rename(aside / entry.name)
    return aside
