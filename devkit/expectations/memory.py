"""What a program's processes hold, of one kind or all: `memory: {kind: Python worker, of: slope, at_least: 30MiB}`.

It is resident memory: a memory page that processes share counts in each of them. `peak_memory` is what a container is
charged for.
"""

from pydantic import Field

from devkit.container.process_kind import ProcessKind
from devkit.expectations.bounds import Bytes
from devkit.expectations.program_argument import ProgramArgument
from devkit.expectations.series_measure import SeriesArgument, SeriesMeasure
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.samples.sample import ProgramUse, Sample
from devkit.observe.time_series import Of, TimeSeries

_MIB = 1 << 20


class MemoryBound(Bytes, SeriesArgument, ProgramArgument):
    """Bounds on a number of the course of a program's memory; a slope is the change in a minute."""

    of: Of = Field(
        default="highest", description="Number that is made of all looks; a slope is the change in a minute."
    )
    kind: ProcessKind | None = Field(
        default=None, description="Kind of process whose memory counts. Default: all of the program."
    )

    def __str__(self) -> str:
        return f"{self.number} {super().__str__()}" + (f" of {self.kind}" if self.kind else "")


def _timing(argument: MemoryBound, _observation: ArmObservation) -> Window | None:
    """Only a slope depends on time."""
    return "arm" if argument.of == "slope" else None


def _series(argument: MemoryBound, observation: ArmObservation) -> TimeSeries:
    """Without samples in which the program had no process of that kind."""
    name = argument.program or (observation.main.name if len(observation.programs) > 1 else None)
    held = [(sample.at_s, _held_bytes(_program_use(sample, name), argument.kind)) for sample in observation.samples]
    return tuple((at_s, float(size)) for at_s, size in held if size)


def _program_use(sample: Sample, name: str | None) -> ProgramUse | Sample | None:
    return sample.programs.get(name) if name is not None else sample


def _held_bytes(use: ProgramUse | Sample | None, kind: ProcessKind | None) -> int:
    if use is None:
        return 0
    return use.memory_bytes if kind is None else use.memory_kinds.get(kind, 0)


MEMORY = SeriesMeasure(
    name="memory",
    summary=(
        "Resident memory of the program's processes, of one `kind` or all together: its `highest`, `last`, `lowest` or "
        "`mean`, or its `slope` a minute."
    ),
    example="{kind: Python worker, of: slope, at_least: 30MiB}",
    argument=MemoryBound,
    series=_series,
    format_value=lambda size: f"{size / _MIB:.1f}MiB",
    timing=_timing,
)
