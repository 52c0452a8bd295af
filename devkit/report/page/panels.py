"""What is plotted, one panel a question, in the order in which one would ask. A panel without data is left out.

Add a panel by adding a function to `PANELS`: it gets an arm's record and gives lines, or nothing.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from devkit.observe.samples.sample import ProgramUse, Sample
from devkit.report.arm_record import ArmRecord
from devkit.report.page.numbers import Unit
from devkit.report.page.series import WINDOW_S, Points, rate, share
from devkit.short_text import shorten

MIB = 1024 * 1024
_LONGEST_NAME = 12
Style = Literal["main", "second", "third", "context"]
_STREAMS: tuple[Style, ...] = ("main", "second", "third")


@dataclass(frozen=True)
class Line:
    """A named series; `context` is what the others are to be compared with."""

    label: str
    points: Points
    style: Style = "main"


@dataclass(frozen=True)
class Panel:
    """`note` says what the reader must know to read it right; `logarithmic` holds values of several magnitudes."""

    title: str
    unit: Unit
    lines: Callable[[ArmRecord], list[Line]]
    note: str = ""
    logarithmic: bool = False
    filled: bool = False
    """The area between the first two lines is what matters."""
    bars: bool = False
    """Batches are drawn as bars as wide as they took."""


def _of(arm: ArmRecord, value: Callable[[Sample], float | None]) -> Points:
    return tuple((sample.at_s, value(sample)) for sample in arm.samples)


def _counter(arm: ArmRecord, value: Callable[[Sample], float]) -> list[tuple[float, float]]:
    return [(sample.at_s, value(sample)) for sample in arm.samples]


def _offsets(arm: ArmRecord) -> list[Line]:
    return [
        Line("committed", _of(arm, lambda sample: sample.committed) if arm.shows_offsets else ()),
        Line("published", _of(arm, lambda sample: sample.source_end), "context"),
    ]


def _waiting(arm: ArmRecord) -> list[Line]:
    """Of each program that applies what the main one writes."""
    names = sorted({name for sample in arm.samples for name in sample.waiting})
    return [
        Line(name, tuple((sample.at_s, sample.waiting.get(name)) for sample in arm.samples), style)
        for name, style in zip(names, _STREAMS, strict=False)
    ]


def _events(arm: ArmRecord) -> list[Line]:
    return [
        Line("output", rate(_counter(arm, lambda sample: sample.outputs))),
        Line("error", rate(_counter(arm, lambda sample: sample.errors)), "second"),
        Line("published", rate(_counter(arm, lambda sample: sample.source_end)), "context"),
    ]


def _end_to_end(arm: ArmRecord) -> list[Line]:
    return [
        Line("p50", tuple((line.at_s, line.p50_s) for line in arm.latencies)),
        Line("p95", tuple((line.at_s, line.p95_s) for line in arm.latencies), "second"),
        Line("p99", tuple((line.at_s, line.p99_s) for line in arm.latencies), "third"),
    ]


def _answers(arm: ArmRecord) -> list[Line]:
    return [
        Line("p50", _of(arm, lambda sample: sample.answer_p50_s)),
        Line("p95", _of(arm, lambda sample: sample.answer_p95_s), "second"),
        Line("p99", _of(arm, lambda sample: sample.answer_p99_s), "third"),
    ]


def _good(sample: Sample) -> float:
    return sample.by_status.get("200", 0)


def _bad(sample: Sample) -> float:
    return sum(count for status, count in sample.by_status.items() if status != "200")


def _requests(arm: ArmRecord) -> list[Line]:
    return [
        Line("200", rate(_counter(arm, _good))),
        Line("not 200", rate(_counter(arm, _bad)), "second"),
    ]


def _amplification(arm: ArmRecord) -> list[Line]:
    return [Line("so far", _of(arm, lambda sample: sample.requests / sample.fetches if sample.fetches else None))]


def _load(arm: ArmRecord) -> list[Line]:
    return [
        Line("queued", _of(arm, lambda sample: sample.queued)),
        Line("busy", _of(arm, lambda sample: sample.busy), "second"),
    ]


def _abandoned(arm: ArmRecord) -> list[Line]:
    shares = share(
        [sample.abandoned for sample in arm.samples],
        [sample.parses for sample in arm.samples],
        [sample.at_s for sample in arm.samples],
    )
    return [Line("share", shares)]


def _batches(arm: ArmRecord) -> list[Line]:
    return [Line("batch", tuple((batch.begin_s, batch.end_s - batch.begin_s) for batch in arm.batches))]


_BESIDE: tuple[Style, ...] = ("second", "third", "context")


def _used(arm: ArmRecord, what: str, value: Callable[[ProgramUse | Sample], float]) -> list[Line]:
    """Of the main program, and of each other one; `what` is the label of the only one."""
    of_main = _of(arm, lambda sample: value(sample) if sample.memory_bytes else None)
    lines = [Line(arm.program if arm.beside else what, of_main)]
    for number, name in enumerate(arm.beside):
        points = tuple(
            (sample.at_s, value(sample.programs[name]) if name in sample.programs else None) for sample in arm.samples
        )
        lines.append(Line(name, points, _BESIDE[min(number, len(_BESIDE) - 1)]))
    return lines


def _slowdown(arm: ArmRecord) -> list[Line]:
    return [
        Line("slowdown", tuple((line.to_s, line.slowdown) for line in arm.headroom)),
        Line("of the cores", tuple((line.to_s, line.core) for line in arm.headroom), "second"),
    ]


def short_names(names: Sequence[str]) -> list[str]:
    """Names of topics or partitions without the parts that all of them begin or end with, in the same order:

    mediawiki.page_change.v1, codfw.mediawiki.page_change.v1  ─▶  mediawiki, codfw.mediawiki
    page_change/0, page_change/1                              ─▶  0, 1

    Each keeps one part at least, and is cut where that is too long.
    """
    split_names = [re.split(r"[./]", name) for name in names]
    if len(names) > 1:
        shortest = min(map(len, split_names))
        first = min(_common_parts(split_names), shortest - 1)
        last = min(_common_parts([parts[::-1] for parts in split_names]), shortest - 1 - first)
        split_names = [parts[first : len(parts) - last] for parts in split_names]
    return [shorten(".".join(parts), _LONGEST_NAME) for parts in split_names]


def _common_parts(split_names: Sequence[Sequence[str]]) -> int:
    """How many parts all names begin with."""
    return sum(1 for _ in takewhile(lambda parts: len({*parts}) == 1, zip(*split_names, strict=False)))


def _event_times(arm: ArmRecord) -> list[Line]:
    """Seconds behind the earliest time that is shown. Of more streams than there are lines, the two ends."""
    names = sorted({name for sample in arm.samples for name in sample.event_times})
    shown = [time for sample in arm.samples for time in sample.event_times.values()]
    if not shown:
        return []
    begin = min([*shown, *(seconds for _, seconds in arm.watermarks)])

    def line(label: str, of: Callable[[Mapping[str, float]], float | None], style: Style) -> Line:
        times = ((sample.at_s, of(sample.event_times)) for sample in arm.samples)
        return Line(label, tuple((at_s, None if time is None else time - begin) for at_s, time in times), style)

    if len(names) <= len(_STREAMS):
        labels = dict(zip(names, short_names(names), strict=True))
        styles = dict(zip(names, _STREAMS, strict=False))
        lines = [line(labels[name], operator.methodcaller("get", name), style) for name, style in styles.items()]
    else:
        lines = [
            line("furthest stream", lambda of: max(of.values(), default=None), "main"),
            line("furthest behind", lambda of: min(of.values()) if len(of) == len(names) else None, "second"),
        ]
    watermarks = tuple((at_s, seconds - begin) for at_s, seconds in arm.watermarks)
    return [*lines, Line("watermark", watermarks, "context")] if watermarks else lines


_OVER = f"over {WINDOW_S:g} s"

COMMITTED = Panel("Committed offset and lag", "events", _offsets, "The shaded area is the lag.", filled=True)
NOT_APPLIED = Panel(
    "Mutations not applied",
    "entries",
    _waiting,
    "Records of the main program that the other one has not applied; no line while nothing says how far it is.",
)

FIRST_PANELS = (COMMITTED, NOT_APPLIED)
"""How far the programs came: what a reader in a hurry looks at."""

PANELS: tuple[Panel, ...] = (
    *FIRST_PANELS,
    Panel(
        "Event time of each stream",
        "seconds",
        _event_times,
        "Of the newest committed event, since the earliest in the arm. What is read below the watermark is too late.",
    ),
    Panel("Events in and out", "per second", _events, f"Records a second, {_OVER}."),
    Panel(
        "End-to-end latency",
        "seconds",
        _end_to_end,
        "From source to output or error, by the second of publishing; no line where too few were emitted. Logarithmic.",
        logarithmic=True,
    ),
    Panel(
        "Answer latency of the upstream",
        "seconds",
        _answers,
        "Of the requests that ended since the sample before. Logarithmic.",
        logarithmic=True,
    ),
    Panel("Requests in flight", "requests", lambda arm: [Line("in flight", _of(arm, lambda sample: sample.in_flight))]),
    Panel("Requests answered by the upstream", "per second", _requests, f"By status, {_OVER}."),
    Panel("Requests for each fetch", "ratio", _amplification, "All requests so far / distinct fetches so far."),
    Panel("Load of the upstream", "parses", _load, "Parses under way, and those that wait for their turn."),
    Panel(
        "Parses whose client had disconnected",
        "percent",
        _abandoned,
        f"Share of the parses that finished, {_OVER}.",
    ),
    Panel("Deferred events", "entries", lambda arm: [Line("deferred", _of(arm, lambda sample: sample.deferred))]),
    Panel(
        "Batch time",
        "seconds",
        _batches,
        "A bar is as wide as its batch took, and as high; an open one was never written.",
        bars=True,
    ),
    Panel(
        "CPU of the programs under test",
        "cores",
        lambda arm: _used(arm, "cores", lambda use: use.cpu_cores),
        "All processes of a program, since the sample before; no line where none ran.",
    ),
    Panel(
        "Slowdown of the machine",
        "ratio",
        _slowdown,
        "How many times longer a quantum of work took than on a free core, with the wait for a core. Logarithmic.",
        logarithmic=True,
    ),
    Panel(
        "CPU of everything else",
        "cores",
        lambda arm: [Line("cores", tuple((line.to_s, line.others_cores) for line in arm.headroom))],
        "What processes used that are not the run's.",
    ),
    Panel(
        "Memory of the programs under test",
        "MiB",
        lambda arm: _used(arm, "resident", lambda use: use.memory_bytes / MIB),
        "Resident, all processes of a program.",
    ),
)
