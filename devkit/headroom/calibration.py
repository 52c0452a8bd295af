"""The machine as it is before a run's stack starts: what a free core does, and how short of time it is already."""

import math
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from devkit.headroom.quantum import REFERENCE_S
from devkit.headroom.reading import ProbeReading

_UNDISTURBED = 0.2
_SOME_PRESSURE = 0.1

OWN_LOAD = 2.0
"""How many times slower a run by itself makes a machine of two cores: what a stretch has to leave room for."""

StretchBy = Literal["command line", "calibration", "program", "repeat", "ablation"]
"""The origin of a stretch."""

MOST = 8
"""The largest stretch: a longer run takes longer than anybody waits for it."""


class Calibration(BaseModel):
    """How fast the machine is, and how busy."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quantum_s: float = Field(gt=0)
    """Seconds that the probe's piece of work takes on a free core: the baseline of all slowdowns."""
    baseline: Literal["measured", "kept", "reference"]
    """Where the baseline comes from: measured now, kept from an earlier run, or the reference."""
    measured_s: float
    """Seconds that the piece of work takes now when it is not disturbed."""
    slowdown: float
    """How many times slower than the baseline it is done now."""
    pressure: float | None = None
    """Share of the time in which tasks waited for a core; null where it cannot be measured."""
    others_cores: float | None = None
    """Cores that processes other than the kit's use; null where it cannot be measured."""
    doubtful: str = ""
    """Why the baseline may hide a slow machine."""

    @property
    def slowness(self) -> str:
        """The slowdown as a sentence; empty where it is no more than a run's own load."""
        return (
            f"the machine is {self.slowdown:.1f} times slower than when it is free" if self.slowdown > OWN_LOAD else ""
        )


def calibrate(
    readings: Sequence[ProbeReading], *, kept_s: float | None = None, others_cores: float | None = None
) -> Calibration:
    """From the probe's first readings, of which at least one is paced. `kept_s` is the best of this machine so far."""
    paced = [reading for reading in readings if reading.paced]
    by_pace = sorted(reading.core_s for reading in readings)
    measured_s = by_pace[int(_UNDISTURBED * len(by_pace))]
    baselines: list[tuple[float, Literal["measured", "kept", "reference"]]] = [(measured_s, "measured")]
    baselines += [(kept_s, "kept")] if kept_s else []
    baselines += [(REFERENCE_S, "reference")]
    quantum_s, baseline = min(baselines, key=lambda candidate: candidate[0])
    pressure = pressure_between(readings[0], readings[-1])
    doubtful = ""
    if not kept_s and pressure is not None and pressure > _SOME_PRESSURE:
        doubtful = (
            f"tasks waited for a core in {pressure:.0%} of the calibration, and no earlier figure of this machine is "
            "kept: slowdowns may be larger than they are shown"
        )
    return Calibration(
        quantum_s=quantum_s,
        baseline=baseline,
        measured_s=measured_s,
        slowdown=round(slowdown_of(paced, quantum_s), 3),
        pressure=None if pressure is None else round(pressure, 3),
        others_cores=None if others_cores is None else round(others_cores, 2),
        doubtful=doubtful,
    )


def slowdown_of(readings: Sequence[ProbeReading], quantum_s: float) -> float:
    """The mean of the quanta's."""
    return max(1.0, sum(reading.took_s for reading in readings) / (len(readings) * quantum_s))


def pressure_between(first: ProbeReading, last: ProbeReading) -> float | None:
    """The share of the time between two readings in which tasks waited for a core."""
    if first.waited_s is None or last.waited_s is None or last.done_s <= first.done_s:
        return None
    return min(1.0, max(0.0, (last.waited_s - first.waited_s) / (last.done_s - first.done_s)))


def stretch_for(slowdown: float, margin: float) -> int:
    """The stretch that leaves room for the run's own load on a machine that is so slow before it begins."""
    return min(MOST, max(1, math.ceil(round(slowdown * OWN_LOAD / margin, 6))))


def larger_stretch(stretch: int, worst: float, margin: float) -> int | None:
    """The stretch for playing again what was so short of time; None where that would be more than is played."""
    wanted = max(stretch + 1, math.ceil(round(worst * 1.25 / margin, 6))) if math.isfinite(worst) else stretch + 1
    return min(wanted, MOST) if stretch < MOST else None
