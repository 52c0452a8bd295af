"""Whether a machine was short of time for a finding: the slowdown over its window against what the scenario leaves."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from devkit.headroom.window import SHORTEST_S, HeadroomSample, Slow, over, worst

MARGIN = 5.0
"""How many times more than an idle reference machine needs a scenario leaves, unless its file says otherwise."""

SLOWEST = 1e6
"""The slowdown of a machine that stood still: JSON knows no infinity."""

_SLOW_CORE = 1.5
_WORTH_SAYING = 0.05
_UNWATCHED = 0.25
"""The share of an arm without samples from which on it is unknown what its machine did."""

Window = timedelta | Literal["arm", "commit"]
"""The window of a finding: any part of an arm of that length, all of the arm, or the longest time of a commit."""


@dataclass(frozen=True)
class Headroom:
    """The headroom of one arm. `samples` count from its beginning; `commit` is how long a commit may take before the
    program ends itself, None where it does not. `margin` is the scenario's, and a stretched run leaves
    that much more. `lasted_s` is how long the arm took, None where its machine was not watched.

    Where the scenario's own faults load the machine, its expectations say of the program what they say of it there; so
    what those took is subtracted, and only what the machine was short of besides makes it short.
    """

    samples: tuple[HeadroomSample, ...]
    margin: float = MARGIN
    stretch: int = 1
    commit: timedelta | None = None
    lasted_s: float | None = None

    @property
    def limit(self) -> float:
        """The slowdown up to which a finding that depends on time is one."""
        return self.margin * self.stretch

    def slowest(self, window: Window) -> Slow | None:
        """The slowest part of the arm that is as long as the window; None where nothing was sampled."""
        length = self.commit if window == "commit" else window
        samples = [sample.without_faults for sample in self.samples]
        return worst(samples, length.total_seconds() if isinstance(length, timedelta) else float("inf"))

    def core_slowdown(self, from_s: float, to_s: float) -> float:
        """The part of the slowdown that slow cores made."""
        return _by_core(self.samples, from_s, to_s)

    def shortage(self, window: Window) -> str | None:
        """A sentence on what was short, when and by how much, or that it is unknown; None where nothing was."""
        if unwatched := self._unwatched():
            return unwatched
        slow = self.slowest(window)
        if slow is None or slow.slowdown <= self.limit:
            return None
        leaves = f"{self.margin:g}" if self.stretch == 1 else f"{self.margin:g} x {self.stretch} (the stretch)"
        return (
            f"the machine was short of time: {_above(self.limit, slow.slowdown)} times slower than when it is free, "
            f"from {slow.from_s:.0f} s to {slow.to_s:.0f} s of the arm; the scenario leaves {leaves}"
            f"{_beside(self.samples, slow)}{cause(self.samples, slow)}"
        )

    def _unwatched(self) -> str | None:
        """The probe may have ended early: what it did not see may have been short."""
        if self.lasted_s is None:
            return None
        missing_s = self.lasted_s - sum(sample.to_s - sample.from_s for sample in self.samples)
        if missing_s <= max(SHORTEST_S, _UNWATCHED * self.lasted_s):
            return None
        return (
            f"how fast the machine was is not known for {missing_s:.0f} s of the arm's {self.lasted_s:.0f} s: "
            "the probe of its speed showed nothing"
        )


UNMEASURED = Headroom(())
"""The headroom of a machine that was not watched: nothing is known to be short."""


def _above(limit: float, slowdown: float) -> str:
    """The slowdown with one decimal, or as many as it takes to be read as more than the limit."""
    digits = next((digits for digits in range(1, 15) if float(f"{slowdown:.{digits}f}") > limit), 15)
    return f"{slowdown:.{digits}f}"


def _beside(samples: Sequence[HeadroomSample], slow: Slow) -> str:
    """A remark where the figure is without the load of the scenario's own faults."""
    loaded = any(sample.fault_share for sample in samples if sample.to_s > slow.from_s and sample.from_s < slow.to_s)
    return ", without what its own faults took" if loaded else ""


def cause(samples: Sequence[HeadroomSample], slow: Slow) -> str:
    """The known causes, as the end of a sentence."""
    inside = [sample for sample in samples if sample.to_s > slow.from_s and sample.from_s < slow.to_s]
    parts = []
    others, pressure = mean(inside, "others_cores"), mean(inside, "pressure")
    if others is not None and others >= _WORTH_SAYING:
        parts.append(f"other processes used {others:.1f} of its {os.cpu_count() or 1} cores")
    if pressure is not None and pressure >= _WORTH_SAYING:
        parts.append(f"tasks waited for a core in {pressure:.0%} of the time")
    core = _by_core(inside, slow.from_s, slow.to_s)
    if core >= _SLOW_CORE:
        parts.append(f"its cores themselves were {core:.1f} times slower")
    return f" ({', '.join(parts)})" if parts else ""


def mean(samples: Sequence[HeadroomSample], name: Literal["others_cores", "pressure"]) -> float | None:
    """By the time that each sample stands for; None where none of them knows."""
    weighted = [
        (sample.to_s - sample.from_s, value) for sample in samples if (value := getattr(sample, name)) is not None
    ]
    seconds = sum(length for length, _ in weighted)
    return sum(length * value for length, value in weighted) / seconds if seconds > 0 else None


def _by_core(samples: Sequence[HeadroomSample], from_s: float, to_s: float) -> float:
    core_samples = [sample.model_copy(update={"slowdown": sample.core}) for sample in samples]
    return over(core_samples, from_s, to_s) or 1.0
