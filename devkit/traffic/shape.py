"""How the events of a stream lie in time: phases of different rates, and canaries at fixed intervals.

phases: [{for: 10s, rate: 20/s}, {name: burst, for: 2s, rate: 500/s}, {for: 5s}]
canaries: {every: 2s, closing: {after: 5m}}
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from devkit.traffic.event_time import ClosingCanaries
from located_config.duration import PositiveDuration
from located_config.rate import Rate

PhaseName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9 _-]{0,30}$")]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class TrafficPhase(_Model):
    """A part of the traffic's time with a rate of its own; without one nothing is drawn in it."""

    for_: PositiveDuration = Field(alias="for", description="How long the phase lasts.", examples=["10s"])
    rate: Rate | None = Field(
        default=None, description="Rate of the drawn events in it. Default: none are published.", examples=["500/s"]
    )
    name: PhaseName | None = Field(
        default=None, description="Name, by which expectations choose it with `during` and `after`.", examples=["burst"]
    )

    @property
    def count(self) -> int:
        """Events drawn in it."""
        return counted_at(self.rate or 0.0, self.for_)


class Canaries(_Model):
    """Probe events besides those of the mix: at fixed intervals, and behind everything else."""

    every: PositiveDuration | None = Field(
        default=None,
        description="Time between two canaries. The last one is at the traffic's end where that is a multiple. "
        "Default: none are at intervals.",
        examples=["2s"],
    )
    closing: ClosingCanaries | None = Field(
        default=None,
        description="Canaries behind all other events, needed where something waits for a watermark: it moves with "
        "events alone. They need `event_times: {published: …}`.",
        examples=[{"after": "5m"}],
    )

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.every is None and self.closing is None:
            raise ValueError("no canary; write every, closing or both")
        return self

    def moments(self, length: timedelta) -> Iterator[timedelta]:
        """Of those at intervals, from the first interval's end on."""
        if self.every is not None:
            yield from (self.every * (number + 1) for number in range(length // self.every))

    def count(self, length: timedelta) -> int:
        """All of them."""
        at_intervals = length // self.every if self.every is not None else 0
        return at_intervals + (self.closing.partitions if self.closing is not None else 0)


def counted_at(rate: float, length: timedelta) -> int:
    """Events of a rate in a time."""
    # First what floating point lost, so that a half stays one: 15/s for 4.1 s has as many as 5/s for 12.3 s.
    return round(round(rate * length.total_seconds(), 9))


def spans(phases: Sequence[TrafficPhase]) -> Iterator[tuple[TrafficPhase, timedelta]]:
    """Each with its beginning, from the traffic's beginning on."""
    begin = timedelta(0)
    for phase in phases:
        yield phase, begin
        begin += phase.for_
