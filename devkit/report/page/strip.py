"""What happened when: a lane for the processes, one for each fault, one for waits, above all plots of an arm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from devkit.report.arm_record import ArmRecord, Process, Span
from devkit.report.page.numbers import moment, number
from devkit.report.page.plot import Tick, percent, x_ticks
from devkit.report.page.series import MOST_SPANS, joined
from located_config.count import times

_MOST_TIMES = 6
_MAIN = "pipeline process"


@dataclass(frozen=True)
class Block:
    """A stretch of a lane, in percent of the width."""

    x: float
    width: float
    kind: str
    title: str


@dataclass(frozen=True)
class Lane:
    """`text` says in words what the blocks show."""

    name: str
    text: str
    blocks: tuple[Block, ...]
    failures: tuple[float, ...] = ()
    """Where a process failed, in percent."""


@dataclass(frozen=True)
class Strip:
    """The lanes of one arm."""

    arm: str
    lanes: tuple[Lane, ...]
    x_ticks: tuple[Tick, ...]


def strips(arms: Mapping[str, ArmRecord], duration_s: float) -> tuple[Strip, ...]:
    """One for each arm; an arm has the lanes of what happened in any, so that both compare."""
    faults = list(dict.fromkeys(name for arm in arms.values() for name in (*arm.faults, *arm.switched)))
    waits = any(arm.waits for arm in arms.values())
    rounds = any(arm.slow_rounds for arm in arms.values())
    return tuple(
        Strip(
            arm.arm,
            (
                _lane("traffic", "traffic", arm.publishing, duration_s, "nothing was published"),
                _processes(_MAIN if not arm.beside else f"program {arm.program}", arm.processes, duration_s),
                *(_processes(f"program {name}", processes, duration_s) for name, processes in arm.beside.items()),
                *(_fault(name, arm, duration_s) for name in faults),
                *([_lane("main lane waits", "wait", arm.waits, duration_s)] if waits else []),
                *([_lane("slow lane at work", "round", arm.slow_rounds, duration_s)] if rounds else []),
            ),
            x_ticks(duration_s),
        )
        for arm in arms.values()
    )


def _lane(name: str, kind: str, spans: Sequence[Span], duration_s: float, nothing: str = "never") -> Lane:
    return Lane(name, _in_words(spans) or nothing, tuple(_block(span, kind, duration_s) for span in joined(spans)))


def _fault(name: str, arm: ArmRecord, duration_s: float) -> Lane:
    """When it acted, in the windows in which it could; where it never did, these in words."""
    acted, windows = arm.faults.get(name, ()), arm.switched.get(name, ())
    nothing = f"never; it was on {_in_words(windows)}" if windows else "never"
    lane = _lane(f"fault: {name}", "fault", acted, duration_s, nothing)
    return replace(lane, blocks=(*(_block(window, "window", duration_s) for window in joined(windows)), *lane.blocks))


def _processes(name: str, processes: Sequence[Process], duration_s: float) -> Lane:
    """A process that starts is drawn open, one whose query runs is drawn full."""
    blocks = []
    shown = processes
    if len(shown) > MOST_SPANS:
        shown = (*shown[: MOST_SPANS // 2], *shown[-(MOST_SPANS // 2) :])
    for process in shown:
        ready_s = process.end_s if process.ready_s is None else process.ready_s
        blocks.append(_block(Span(process.begin_s, ready_s, f"process {process.number} starts"), "start", duration_s))
        if process.ready_s is not None:
            running = Span(process.ready_s, process.end_s, f"process {process.number} runs")
            blocks.append(_block(running, "run", duration_s))
    ends = [process for process in processes if process.exit_code is not None]
    text = f"{len(processes)} started, {_ended(ends) if ends else 'none ended'}"
    failures = tuple(percent(process.end_s, duration_s) for process in shown if process.exit_code is not None)
    return Lane(name, text, tuple(blocks), failures)


def _ended(ends: Sequence[Process]) -> str:
    codes = sorted({str(process.exit_code) for process in ends})
    ends_at = [f"{moment(process.end_s)} s" for process in ends]
    when = ", ".join(ends_at) if len(ends_at) <= _MOST_TIMES else f"{ends_at[0]} to {ends_at[-1]}"
    return f"{len(ends)} ended with exit code {' or '.join(codes)} at {when}"


def _block(span: Span, kind: str, duration_s: float) -> Block:
    x = percent(span.begin_s, duration_s)
    title = f"{span.what + ', ' if span.what else ''}{moment(span.begin_s)} to {moment(span.end_s)} s"
    return Block(x, max(0.3, round(percent(span.end_s, duration_s) - x, 3)), kind, title)


def _in_words(spans: Sequence[Span]) -> str:
    total_s = sum(span.end_s - span.begin_s for span in spans)
    if not spans:
        return ""
    first, last = spans[0].begin_s, spans[-1].end_s
    if len(spans) == 1:
        return f"from {moment(first)} to {moment(last)} s"
    return f"{times(len(spans))} between {moment(first)} and {moment(last)} s, {number(total_s)} s in all"
