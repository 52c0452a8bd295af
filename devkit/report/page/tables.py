"""The page's tables of figures, an arm a column: what was measured, and where the events went."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from devkit.container.kill import ContainerFigures
from devkit.observe.audit.model import Audit
from devkit.observe.figures import Answers, Figures, FlatCommit, LatencyFigures
from devkit.report.arm_record import ArmRecord
from devkit.report.page.numbers import duration, figure, number
from devkit.report.page.panels import MIB
from devkit.report.result import ArmResult
from devkit.report.run_record import RunRecord


@dataclass(frozen=True)
class Row:
    """A figure by the name a person would ask for it; a value for each arm, in their order."""

    name: str
    values: tuple[str, ...]


_ABSENT = "—"
_NOT_OBSERVABLE = "not observable"
_NOTHING = {_ABSENT, "0"}
_ALWAYS = ("inputs", "outputs", "errors", "lost")
_BY_COMMITS = ("lost", "pending", "filtered", "deferred")
_WITHOUT_SOURCES = ("inputs", "unattributed")
_AUDIT = {
    "inputs": "events published",
    "outputs": "ended as output",
    "errors": "ended as error event",
    "filtered": "filtered, as they should be",
    "deferred": "still deferred",
    "pending": "still in the source, not committed",
    "lost": "lost",
    "lapsed": "lapsed: too late for the job",
    "excused_lapses": "of these, late on purpose",
    "deduplicated": "dropped as repeats of an event with the same id",
    "repeats_emitted": "emitted although an event with the same id was",
    "duplicated": "records that repeat an earlier one byte for byte",
    "excused": "of these, of events that a restart or a retried task had read again",
    "excused_by_retry": "of those, by retried tasks alone",
    "conflicting": "records that contradict an earlier one",
    "excused_conflicts": "of these, output and error of an event that a restart or a retried task had read again",
    "excused_conflicts_by_retry": "of those, by retried tasks alone",
    "out_of_order": "out of order for their page",
    "misrouted": "emitted another way than expected",
    "mismatched": "emitted with the wrong content",
    "unattributed": "records of no known event",
    "claim_checks": "claim checks whose payload is there",
}


def measured(run: RunRecord) -> tuple[Row, ...]:
    """What the arms came to; a figure of which no arm has anything is left out."""
    records = tuple(run.arms.values())
    results = [result_of(run, arm.arm) for arm in records]
    always = [
        Row("lasted", tuple(duration(arm.duration_s) for arm in records)),
        Row("ended by", tuple(arm.ended_by or "cut short" for arm in records)),
        Row("restarts", tuple(number(max(0, len(arm.processes) - 1)) for arm in records)),
        Row("committed", tuple(_committed(arm) for arm in records)),
        Row("highest lag, events", tuple(_peak_lag(arm) for arm in records)),
    ]
    rows = [
        _of(results, "given up by its supervisor", _gave_up),
        _of(results, "batch repeated most, times", lambda arm: number(arm.replays)),
        _of(results, "source offsets read again", lambda arm: number(arm.replayed_offsets)),
        *(_of_figures(results, name, value) for name, value in _FIGURES.items()),
    ]
    return (*always, *(row for row in rows if not set(row.values) <= _NOTHING))


def _gave_up(arm: ArmResult) -> str:
    """Results of earlier versions do not say after which restarts."""
    if not arm.gave_up:
        return _ABSENT
    return f"after {arm.gave_up_after}" if arm.gave_up_after else "yes"


def programs(run: RunRecord) -> tuple[Row, ...]:
    """How each went, where an arm has several."""
    results = [result_of(run, arm) for arm in run.arms]
    arms = [{program.name: program.text for program in result.programs} if result else {} for result in results]
    names = dict.fromkeys(name for texts in arms for name in texts)
    return tuple(Row(name, tuple(texts.get(name, _ABSENT) for texts in arms)) for name in names)


def delivery(run: RunRecord) -> tuple[Row, ...]:
    """The audit of each arm; figures that are zero in all of them are left out, unless they matter most."""
    if not run.result:
        return ()
    results = {arm: result_of(run, arm) for arm in run.arms}
    audits = {arm: result.audit if result else None for arm, result in results.items()}
    return tuple(
        Row(text, tuple(_fate(name, audit, run.arms[arm]) for arm, audit in audits.items()))
        for name, text in _AUDIT.items()
        if name in _ALWAYS or any(audit and getattr(audit, name) for audit in audits.values())
    )


def _fate(name: str, audit: Audit | None, arm: ArmRecord) -> str:
    """An event that was not emitted has its fate by what is committed; one that was, by the record that names it."""
    if audit is None:
        return _ABSENT
    by_commits = name in _BY_COMMITS and audit.pending and not arm.shows_offsets
    by_sources = name not in _WITHOUT_SOURCES and "sources" in arm.not_observable
    return _NOT_OBSERVABLE if by_commits or by_sources else number(getattr(audit, name))


def result_of(run: RunRecord, arm: str) -> ArmResult | None:
    """None where the arm has no result."""
    return run.result.arms.get(arm) if run.result else None


def _of(results: Sequence[ArmResult | None], name: str, value: Callable[[ArmResult], str]) -> Row:
    return Row(name, tuple(value(result) if result else _ABSENT for result in results))


def _of_figures(results: Sequence[ArmResult | None], name: str, value: Callable[[Figures], str]) -> Row:
    return _of(results, name, lambda arm: value(arm.figures))


def _committed(arm: ArmRecord) -> str:
    if not arm.samples:
        return _ABSENT
    if not arm.shows_offsets:
        return _NOT_OBSERVABLE
    return f"{number(arm.samples[-1].committed)} of {number(arm.samples[-1].source_end)}"


def _peak_lag(arm: ArmRecord) -> str:
    if not arm.shows_offsets:
        return _NOT_OBSERVABLE
    return number(max(sample.lag for sample in arm.samples)) if arm.samples else _ABSENT


def _amplification(figures: Figures) -> str:
    return _ABSENT if figures.amplification is None else number(figures.amplification)


def _success(answers: Answers | None) -> str:
    rate = answers.success_rate if answers else None
    return _ABSENT if rate is None else figure(rate, "percent")


def _abandoned(figures: Figures) -> str:
    return _ABSENT if figures.abandoned_share is None else figure(figures.abandoned_share, "percent")


def _flat(flat: FlatCommit | None) -> str:
    if flat is None:
        return _ABSENT
    cores = "" if flat.median_cpu_cores is None else f", at {number(flat.median_cpu_cores)} cores"
    return f"{duration(flat.duration_s)} from {duration(flat.from_s)} on{cores}"


def _latency(latency: LatencyFigures | None) -> str:
    if latency is None:
        return _ABSENT
    percentiles = {"p50": latency.p50_s, "p95": latency.p95_s, "p99": latency.p99_s}
    parts = [f"{name} {duration(at_s)}" for name, at_s in percentiles.items() if at_s is not None]
    if latency.waiting:
        parts.append(f"{number(latency.waiting)} were not emitted")
    return ", ".join(parts) or _ABSENT


def _contained(container: ContainerFigures | None) -> str:
    if container is None:
        return _ABSENT
    limit = "" if container.memory_limit is None else f" of {figure(container.memory_limit / MIB, 'MiB')}"
    return f"{figure(container.peak_memory / MIB, 'MiB')}{limit}, {container.measure}"


_FIGURES: dict[str, Callable[[Figures], str]] = {
    "requests to the upstream": lambda figures: number(figures.requests),
    "requests for each fetch": _amplification,
    "requests for one fetch, at most": lambda figures: number(figures.max_attempt),
    "requests answered 200": lambda figures: _success(figures.answers),
    "requests answered 200, after the fault": lambda figures: _success(figures.answers_after_fault),
    "parses whose client had disconnected": _abandoned,
    "longest queue of the upstream": lambda figures: number(figures.peak_queue),
    "longest time without a commit": lambda figures: _flat(figures.flat_commit),
    "end-to-end latency": lambda figures: _latency(figures.latency),
    "end-to-end latency of healthy pages": lambda figures: _latency(figures.healthy_latency),
    "events ever deferred": lambda figures: number(figures.deferred_ever),
    "CPU of the pipeline, mean cores": lambda figures: (
        _ABSENT if figures.mean_cpu_cores is None else number(figures.mean_cpu_cores)
    ),
    "memory of the pipeline, highest": lambda figures: figure(figures.peak_memory_bytes / MIB, "MiB"),
    "memory in its container, highest": lambda figures: _contained(figures.container),
    "killed at a limit of its container": lambda figures: (
        _ABSENT if figures.container is None else number(len(figures.container.kills))
    ),
}
