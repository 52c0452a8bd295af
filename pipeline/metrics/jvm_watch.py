"""The driver's JVM as its management beans and Spark's block manager report it, looked at in a thread of its own.

Neither a batch nor a scrape waits for it: who asks for the metrics gets those of the last look. With a `local` master
the tasks run in that JVM too; on a cluster the executors have JVMs of their own, which are not looked at.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pipeline import log
from pipeline.events import JvmUnknown
from pipeline.metrics import catalogue
from pipeline.metrics.measurements import Recorder


@dataclass(frozen=True, slots=True)
class MemoryPool:
    """Bytes. `most` is None where the pool has no bound, `live` where it is never collected: what the last collection
    of it left.
    """

    area: str
    used: int
    most: int | None
    live: int | None


@dataclass(frozen=True, slots=True)
class JvmMeasurements:
    """One reading: pools by name, seconds of collections since the JVM's start by collector, and Spark's cache in
    number of RDDs and in bytes by storage. `slots` are the tasks that may run at once now, `slots_configured` those
    with all executors, None where Spark's settings do not say.
    """

    pools: Mapping[str, MemoryPool]
    classes: int
    threads: int
    gc_seconds: Mapping[str, float]
    cached_rdds: int
    cached_bytes: Mapping[str, int]
    storage_bytes_max: int
    slots: int
    slots_configured: int | None


class JvmSource(Protocol):
    """A JVM that can be asked."""

    def look(self) -> JvmMeasurements:
        """Its measurements now. Raises whatever the connection to it raises."""


class JvmWatch:
    """Looks every `interval_s` seconds and tells `recorder`."""

    def __init__(self, source: JvmSource, recorder: Recorder, *, interval_s: float) -> None:
        self._source, self._recorder, self._interval_s = source, recorder, interval_s
        self._gc_seconds: Mapping[str, float] = {}
        self._stopped = threading.Event()
        self._failing = False

    def start(self) -> None:
        """Its thread is a daemon, so it keeps no process from ending. Call once."""
        threading.Thread(target=self._run, name="jvm-watch", daemon=True).start()

    def stop(self) -> None:
        """Does not wait for the thread, which ends after the look at hand."""
        self._stopped.set()

    def look(self) -> None:
        """Look once. A failure is logged once, and the levels of a JVM that does not answer are no longer reported."""
        try:
            measurements = self._source.look()
        except Exception as error:  # noqa: BLE001 — whatever it is, the job itself must not end by it
            if not self._failing and not self._stopped.is_set():
                log.emit(JvmUnknown(error=f"{type(error).__name__}: {error}"))
            self._failing = True
            self._forget()
            return
        self._failing = False
        self._record(measurements)

    def _record(self, measurements: JvmMeasurements) -> None:
        recorder = self._recorder
        for name, pool in measurements.pools.items():
            recorder.set(catalogue.JVM_POOL_USED, pool.used, pool.area, name)
            if pool.most is not None:
                recorder.set(catalogue.JVM_POOL_MAX, pool.most, pool.area, name)
            if pool.live is not None:
                recorder.set(catalogue.JVM_POOL_LIVE, pool.live, pool.area, name)
        recorder.set(catalogue.JVM_CLASSES, measurements.classes)
        recorder.set(catalogue.JVM_THREADS, measurements.threads)
        for collector, seconds in measurements.gc_seconds.items():
            recorder.count(catalogue.JVM_GC, collector, by=max(0.0, seconds - self._gc_seconds.get(collector, 0.0)))
        self._gc_seconds = measurements.gc_seconds
        recorder.set(catalogue.CACHED_RDDS, measurements.cached_rdds)
        for place, size in measurements.cached_bytes.items():
            recorder.set(catalogue.CACHED_BYTES, size, place)
        recorder.set(catalogue.STORAGE_MAX, measurements.storage_bytes_max)
        recorder.set(catalogue.SLOTS, measurements.slots)
        if measurements.slots_configured is not None:
            recorder.set(catalogue.SLOTS_CONFIGURED, measurements.slots_configured)

    def _forget(self) -> None:
        for metric in catalogue.OF_JVM:
            if metric.kind == "gauge":
                self._recorder.forget(metric)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self.look()
            self._stopped.wait(self._interval_s)
