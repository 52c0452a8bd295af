"""Measured points beside what the model says of them: how they are said, kept, and how their cost grows."""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.engine.race import Outcome
from benchmarks.engine.rounds import say
from benchmarks.growth.fit import error, exponent
from pipeline.capacity.limits import Forecast


@dataclass(frozen=True)
class Beside:
    """A point's `outcome`, and the model's forecast of it."""

    outcome: Outcome
    forecast: Forecast

    @property
    def ms_an_event(self) -> float:
        return 1000 / self.outcome.steady

    @property
    def model_error(self) -> float:
        return error(self.forecast.rate, self.outcome.steady)

    def in_words(self) -> str:
        return f"{self.outcome.steady:.0f}/s; model {self.forecast.rate:.0f}/s ({self.model_error:+.0%})"

    def row(self) -> dict[str, object]:
        """Rates in events a second."""
        return {
            "measured": round(self.outcome.steady, 1),
            "model": round(self.forecast.rate, 1),
            "model_error": round(self.model_error, 3),
            "others_cpu_s": round(self.outcome.usage.others_cpu_s, 1),
        }


def by_size(what: str, points: Mapping[int, Beside]) -> dict[str, object]:
    """A row for each size of `what`, and the exponent with which the time for an event grows: None of one point."""
    growth = exponent({size: point.ms_an_event for size, point in points.items()}) if len(points) > 1 else None
    if growth is not None:
        say(f"time an event grows with the {what} to the power of {growth:+.3f} (0 is flat)")
    rows = [
        {
            what: size,
            "ms_an_event": round(point.ms_an_event, 4),
            "first_output_s": round(point.outcome.first_output_s, 1),
            **point.row(),
        }
        for size, point in points.items()
    ]
    return {"points": rows, "growth_exponent": None if growth is None else round(growth, 4)}


def say_size(what: str, size: int, point: Beside) -> None:
    say(
        f"{what} {size:9,}: {point.ms_an_event:.3f} ms an event, first output after "
        f"{point.outcome.first_output_s:.1f} s, {point.in_words()}"
    )
