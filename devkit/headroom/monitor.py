"""Watches the probe while a run goes on: the calibration at its start, then a sample of the machine every second."""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from devkit.errors import StackError
from devkit.guardian import Guardian, ManagedProcess
from devkit.headroom.best_quantum import BestQuantum, this_machine
from devkit.headroom.calibration import Calibration, calibrate, pressure_between
from devkit.headroom.headroom_figures import RunHeadroom
from devkit.headroom.machine_use import MachineUsage, MachineUse, fault_usage, run_usage
from devkit.headroom.probe import CALIBRATION
from devkit.headroom.reading import ProbeReading
from devkit.headroom.shortage import Headroom
from devkit.headroom.window import HeadroomSample
from devkit.jvm.cache import cache_dir
from devkit.observe.timeline.kit_events import CalibrationTaken, ProbeEnded
from devkit.observe.timeline.timeline import Timeline
from devkit.waiting import wait_until

_TICK_S = 1.0
_CALIBRATION_TIMEOUT = timedelta(seconds=60)
_NAME = "headroom-probe"


class Monitor:
    """A context manager; `calibrate` it once, before the stack starts, and the sampling begins."""

    def __init__(
        self, guardian: Guardian, timeline: Timeline, logs: Path, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._timeline = timeline
        self._usage = MachineUsage(run_usage(guardian.run_id), fault_usage())
        self._best = BestQuantum(cache_dir(), this_machine())
        self._probe: ManagedProcess = guardian.spawn(
            _NAME, [sys.executable, "-m", "devkit.headroom.probe"], logs=logs, split=True
        )
        self._readings = ReadingTail(self._probe.stdout)
        self._samples: list[HeadroomSample] = []
        self._last: ProbeReading | None = None
        self._quantum_s = 0.0
        self._arm: str | None = None
        self._offset_s = clock() - timeline.now_s()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="headroom", daemon=True)

    def calibrate(self) -> Calibration:
        """Raises StackError when the probe does not work."""
        readings: list[ProbeReading] = []

        def enough() -> bool | None:
            readings.extend(self._readings.new())
            if self._probe.exit_code is not None:
                raise StackError(f"the probe of the machine's speed ended: {self._probe.last_words()}")
            return sum(reading.paced for reading in readings) >= CALIBRATION or None

        wait_until(enough, what="the calibration of the machine's speed", deadline=_CALIBRATION_TIMEOUT)
        calibration = calibrate(readings, kept_s=self._best.read(), others_cores=self._usage.look().others_cores)
        self._best.offer(calibration.measured_s)
        self._quantum_s, self._last = calibration.quantum_s, readings[-1]
        self._timeline.add(CalibrationTaken(**calibration.model_dump()))
        self._thread.start()
        return calibration

    @contextlib.contextmanager
    def watching(self, arm: str, commit: timedelta | None, run: RunHeadroom) -> "Iterator[Watched]":
        """The samples that are taken meanwhile are of this arm."""
        self._arm = arm
        try:
            yield Watched(self, self._timeline.now_s(), commit, run)
        finally:
            self._arm = None

    def samples(self, from_s: float, to_s: float) -> tuple[HeadroomSample, ...]:
        """The samples between two moments of the timeline; their times count from the first."""
        self._tick()
        samples = [sample for sample in self._samples if sample.to_s > from_s and sample.from_s < to_s]
        return tuple(shifted(sample, from_s, to_s) for sample in samples)

    def _run(self) -> None:
        while not self._stop.wait(_TICK_S):
            self._tick()
            if self._probe.exit_code is not None and not self._stop.is_set():
                self._timeline.add(ProbeEnded(exit_code=self._probe.exit_code))
                return

    def _tick(self) -> None:
        with self._lock:
            readings = list(self._readings.new())
            if not readings or self._last is None:
                return
            use = self._usage.look()
            sample = sample_of(self._last, readings, self._quantum_s, offset_s=self._offset_s, use=use)
            self._last = readings[-1]
            self._samples.append(sample)
            self._timeline.add(sample, arm=self._arm)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Sample no more, and end the probe; safe to call twice."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        with contextlib.suppress(StackError):  # the guardian has ended, and the probe with it
            self._probe.kill_tree()


@dataclass(frozen=True)
class Watched:
    """An arm that began at `begin_s` of the timeline; a commit of it may take `commit`."""

    monitor: Monitor
    begin_s: float
    commit: timedelta | None
    run: RunHeadroom

    def until(self, duration_s: float) -> Headroom:
        """From the arm's beginning on, for this time."""
        samples = self.monitor.samples(self.begin_s, self.begin_s + duration_s)
        return Headroom(samples, self.run.margin, self.run.stretch, self.commit, duration_s)


class ReadingTail:
    """Reads the lines that the probe's file has gained since the last look, without a line that is not complete."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def new(self) -> Iterator[ProbeReading]:
        """Nothing while there is no file; a line that is not a reading is skipped."""
        with contextlib.suppress(FileNotFoundError), self._path.open("rb") as file:
            file.seek(self._offset)
            data = file.read()
            end = data.rfind(b"\n") + 1
            self._offset += end
            for line in data[:end].splitlines():
                with contextlib.suppress(ValidationError):
                    yield ProbeReading.model_validate_json(line)


def sample_of(
    before: ProbeReading,
    readings: Sequence[ProbeReading],
    quantum_s: float,
    *,
    offset_s: float,
    use: MachineUse | None = None,
) -> HeadroomSample:
    """Readings that follow `before`, as one sample that stands for the time since then."""
    slowdown = sum(reading.took_s for reading in readings) / (len(readings) * quantum_s)
    core = sum(reading.core_s for reading in readings) / (len(readings) * quantum_s)
    pressure = pressure_between(before, readings[-1])
    return HeadroomSample(
        from_s=round(before.done_s - offset_s, 3),
        to_s=round(readings[-1].done_s - offset_s, 3),
        slowdown=round(max(1.0, slowdown), 3),
        core=round(max(1.0, core), 3),
        pressure=None if pressure is None else round(pressure, 3),
        others_cores=None if use is None else round(use.others_cores, 2),
        fault_share=0.0 if use is None else round(min(1.0, use.fault_share), 3),
    )


def shifted(sample: HeadroomSample, from_s: float, to_s: float) -> HeadroomSample:
    """The part of a sample between two moments, with times from the first."""
    begins, ends = max(sample.from_s, from_s) - from_s, min(sample.to_s, to_s) - from_s
    return sample.model_copy(update={"from_s": round(begins, 3), "to_s": round(ends, 3)})
