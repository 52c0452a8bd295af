"""From the samples of an arm to its figures.

The samples are those taken while the supervisor kept the pipeline running. What the harness does to it afterwards
(kill it, and with it the requests in flight) is no part of the incident.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import pairwise
from statistics import median

from devkit.container.kill import ContainerFigures
from devkit.observe.figures import Answers, Figures, FlatCommit
from devkit.observe.latency import Latencies
from devkit.observe.samples.sample import Sample

_GAP_S = 5.0
"""Looks follow each other every half second; while a part stands still under a fault, there are none."""

_Interval = tuple[Sample, Sample]


def measure(
    samples: Sequence[Sample],
    *,
    fault_over: timedelta | None,
    traffic_over_s: float | None,
    peak_queue: int,
    deferred_ever: int,
    over_budget: int = 0,
    latencies: Latencies,
    container: ContainerFigures | None = None,
) -> Figures:
    """`fault_over` counts from the arm's first request, `traffic_over_s` from the arm's start; None: not by its end.

    `samples` are in order, and at least one.
    """
    last = samples[-1]
    healthy = latencies.healthy()
    return Figures(
        requests=last.requests,
        fetches=last.fetches,
        max_attempt=last.max_attempt,
        amplification=_share(last.requests, last.fetches),
        answers=Answers.counted(dict(last.by_status)),
        answers_after_fault=_after_fault(samples, fault_over, traffic_over_s),
        parses=last.parses,
        abandoned=last.abandoned,
        abandoned_share=_share(last.abandoned, last.parses),
        peak_queue=peak_queue,
        flat_commit=flat_commit(samples),
        deferred_ever=deferred_ever,
        over_budget=over_budget,
        latency=latencies.figures(),
        healthy_latency=healthy.figures() if healthy is not None else None,
        peak_memory_bytes=max(sample.memory_bytes for sample in samples),
        mean_cpu_cores=_mean_cores(list(pairwise(samples))),
        container=container,
        connections=last.connections_opened,
        connections_refused=last.connections_refused,
    )


def flat_commit(samples: Sequence[Sample]) -> FlatCommit | None:
    """The longest flat time; None when no two samples show one, and no gap between them may hide one."""
    flats = [flat for flat in _flats(samples) if flat]
    at_most_s = max((_possible_s(flat, samples) for flat in flats), default=0.0)
    if not any(len(flat) > 1 for flat in flats) and not at_most_s:
        return None
    longest = max(flats, key=lambda flat: flat[-1].at_s - flat[0].at_s)
    begin, end = longest[0], longest[-1]
    running = [
        (before, after)
        for before, after in pairwise(longest)
        if before.process is not None and before.process == after.process
    ]
    mean = _mean_cores(running)
    return FlatCommit(
        duration_s=round(end.at_s - begin.at_s, 3),
        from_s=begin.at_s,
        committed=begin.committed,
        source_end=end.source_end,
        median_cpu_cores=round(median(after.cpu_cores for _, after in running), 3) if running else None,
        mean_cpu_cores=mean,
        at_most_s=round(at_most_s, 3) if at_most_s > end.at_s - begin.at_s else None,
    )


def _possible_s(flat: Sequence[Sample], samples: Sequence[Sample]) -> float:
    """How long a flat time may have been, where a gap in the samples before or after it hides when it began or ended.

    0 where there is no such gap: samples at the usual interval hide nothing that matters.
    """
    begin_s, end_s = flat[0].at_s, flat[-1].at_s
    before_s = max((sample.at_s for sample in samples if sample.at_s < begin_s), default=begin_s)
    after_s = min((sample.at_s for sample in samples if sample.at_s > end_s), default=end_s)
    if begin_s - before_s <= _GAP_S and after_s - end_s <= _GAP_S:
        return 0.0
    return (after_s if after_s - end_s > _GAP_S else end_s) - (before_s if begin_s - before_s > _GAP_S else begin_s)


def _flats(samples: Sequence[Sample]) -> Iterator[list[Sample]]:
    """Samples that follow each other with the same committed offset and a lag, from the first query on."""
    flat: list[Sample] = []
    has_begun = False
    for sample in samples:
        has_begun |= sample.process is not None
        if not has_begun:
            continue
        if sample.lag <= 0 or (flat and sample.committed != flat[0].committed):
            yield flat
            flat = []
        if sample.lag > 0:
            flat.append(sample)
    yield flat


def _after_fault(samples: Sequence[Sample], over: timedelta | None, traffic_over_s: float | None) -> Answers | None:
    if over is None:
        return None
    begins = (
        sample
        for sample in samples
        if sample.upstream_clock_s is not None and sample.upstream_clock_s >= over.total_seconds()
    )
    begin = next(begins, None)
    ends = (sample for sample in samples if traffic_over_s is not None and sample.at_s >= traffic_over_s)
    end = next(ends, samples[-1])
    if begin is None or begin.at_s >= end.at_s:
        return None
    return Answers.counted(dict(Counter(end.by_status) - Counter(begin.by_status)))


def use_of(samples: Sequence[Sample], program: str) -> tuple[int | None, float | None]:
    """The highest memory of one of several programs, and its mean cores while it ran; None where it never did."""
    memory = [sample.programs[program].memory_bytes for sample in samples if program in sample.programs]
    ran = [(before, after) for before, after in pairwise(samples) if program in after.programs]
    return max(memory, default=None), _mean_cores(ran, lambda sample: sample.programs[program].cpu_cores)


def _mean_cores(
    intervals: Sequence[_Interval], cores: Callable[[Sample], float] = lambda sample: sample.cpu_cores
) -> float | None:
    """A sample's cores are those since the one before it."""
    seconds = sum(after.at_s - before.at_s for before, after in intervals)
    if seconds <= 0:
        return None
    return round(sum(cores(after) * (after.at_s - before.at_s) for before, after in intervals) / seconds, 3)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
