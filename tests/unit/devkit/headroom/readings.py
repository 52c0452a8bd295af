"""Readings of a probe whose free quantum takes 4 ms, made by hand."""

from devkit.headroom.reading import ProbeReading
from devkit.headroom.window import HeadroomSample

QUANTUM_S = 0.004


def a_reading(
    done_s: float,
    *,
    took_s: float = QUANTUM_S,
    core_s: float = QUANTUM_S,
    waited_s: float | None = None,
    paced: bool = True,
) -> ProbeReading:
    return ProbeReading(due_s=done_s - took_s, done_s=done_s, core_s=core_s, waited_s=waited_s, paced=paced)


def samples(*slowdowns: float, from_s: float = 0.0) -> tuple[HeadroomSample, ...]:
    """One a second."""
    return tuple(
        HeadroomSample(from_s=from_s + at, to_s=from_s + at + 1, slowdown=slowdown)
        for at, slowdown in enumerate(slowdowns)
    )
