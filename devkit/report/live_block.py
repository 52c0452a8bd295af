"""What the live view shows of the arm that is played, as lines of text: no terminal is needed to make them.

```
incident  pipeline: running, from checkpoint                        23.4 s
committed ██████████████░░░░░░░░░░░░░░░░  50/161
lag       ▁▂▃▄▅▆▇███▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇  111
out       ▁▁▁▁█▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁  48, 0/s, errors 1
requests  ▁▁▁▁▁█▅▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁  169, 0/s, open 0
restarts 1 · fault 'huge page' 2, now
```
"""

import itertools
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len, set_cell_size

from devkit.observe.samples.sample import Sample
from located_config.count import counted

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-=+*%#"
_KEPT = 200
_LABEL = 10
_FIGURES = 34
_LONGEST_LINE = 100


@dataclass
class ArmView:
    """What has been seen of one arm so far; `shows_offsets` is whether its commits are observable."""

    arm: str
    phase: str = ""
    restarts: int = 0
    shows_offsets: bool = True
    samples: deque[Sample] = field(default_factory=lambda: deque(maxlen=_KEPT))
    active: frozenset[str] = frozenset()

    def add(self, sample: Sample) -> None:
        """A fault is active when it matched requests since the sample before."""
        self.active = frozenset(name for name, count in sample.faults.items() if count > self.fired.get(name, 0))
        self.samples.append(sample)

    @property
    def fired(self) -> Mapping[str, int]:
        """The requests that each fault has met."""
        return self.samples[-1].faults if self.samples else {}

    def rates(self, name: str) -> list[float]:
        """The increase a second of a counter of the samples, from sample to sample."""
        samples = list(self.samples)
        return [
            max(0.0, getattr(now, name) - getattr(before, name)) / max(1e-6, now.at_s - before.at_s)
            for before, now in itertools.pairwise(samples)
        ]


@dataclass(frozen=True)
class Mark:
    """Part of a line that deserves attention; a terminal with colour may show it, the text says it by itself."""

    text: str
    kind: str


def block_lines(view: ArmView, width: int, *, unicode: bool = True) -> list[str]:
    """Each at most `width` columns. Without `unicode` only ASCII is drawn."""
    width = min(width, _LONGEST_LINE)
    lines = [_head(view, width)]
    if view.samples:
        lines += _figures(view, width, unicode=unicode)
    lines.append(_incidents(view))
    if not unicode:
        lines = [line.replace(" · ", ", ").encode("ascii", "replace").decode() for line in lines]
    return [fitted(line, width) for line in lines if line]


def marks(view: ArmView) -> list[Mark]:
    """The parts of the lines that a terminal may colour."""
    found = [Mark(view.arm, "arm")]
    if view.restarts:
        found.append(Mark(f"restarts {view.restarts}", "restart"))
    return found + [Mark(f"fault {name!r} {view.fired[name]}, now", "fault") for name in sorted(view.active)]


def _head(view: ArmView, width: int) -> str:
    elapsed = f"{view.samples[-1].at_s:.1f} s" if view.samples else ""
    start = fitted(f"{view.arm:<{_LABEL}}{view.phase}", max(0, width - len(elapsed) - 2))
    return f"{start:<{max(0, width - len(elapsed))}}{elapsed}"


def _figures(view: ArmView, width: int, *, unicode: bool) -> list[str]:
    now = view.samples[-1]
    levels = BLOCKS if unicode else ASCII
    wide = max(0, width - _LABEL - _FIGURES)
    share = now.committed / now.source_end if now.source_end else 0.0
    drawn = bar(share, wide) if unicode else bar(share, wide, "#", "-")
    outputs, requests = view.rates("outputs"), view.rates("requests")

    def row(label: str, drawing: str, figures: str) -> str:
        return f"{label:<{_LABEL}}{drawing:<{wide}}{'  ' if wide else ''}{figures}"

    lags = [float(sample.lag) for sample in view.samples]
    if view.shows_offsets:
        lines = [
            row("committed", drawn, f"{now.committed}/{now.source_end}"),
            row("lag", sparkline(lags, wide, levels), f"{now.lag}"),
        ]
    else:
        lines = [row("committed", "", f"n/a, published {now.source_end}"), row("lag", "", "n/a")]
    lines += [
        row("out", sparkline(outputs, wide, levels), f"{now.outputs}{_rate(outputs)}, errors {now.errors}"),
        row("requests", sparkline(requests, wide, levels), f"{now.requests}{_rate(requests)}, open {now.in_flight}"),
    ]
    if any(sample.queued for sample in view.samples):
        queued = [float(sample.queued) for sample in view.samples]
        share_lost = f", {now.abandoned / now.parses:.0%} abandoned" if now.parses else ""
        lines.append(row("queued", sparkline(queued, wide, levels), f"{now.queued}{share_lost}"))
    if any(sample.deferred for sample in view.samples):
        deferred = [float(sample.deferred) for sample in view.samples]
        lines.append(row("deferred", sparkline(deferred, wide, levels), f"{now.deferred}"))
    for name in sorted({name for sample in view.samples for name, count in sample.waiting.items() if count}):
        behind = [float(sample.waiting.get(name, 0)) for sample in view.samples]
        lines.append(row(fitted(name, _LABEL - 1), sparkline(behind, wide, levels), f"{int(behind[-1])} behind"))
    return lines


def _rate(rates: list[float]) -> str:
    return f", {rates[-1]:.0f}/s" if rates else ""


def _incidents(view: ArmView) -> str:
    parts = [f"restarts {view.restarts}"] if view.restarts else []
    if again := view.samples[-1].read_again if view.samples else 0:
        parts.append(f"up to {counted(again, 'repeat')} after replays")
    parts += [
        f"fault {name!r} {count}{', now' if name in view.active else ''}" for name, count in view.fired.items() if count
    ]
    return " · ".join(parts)


def sparkline(values: Sequence[float], width: int, levels: str = BLOCKS) -> str:
    """The last values, one a column, at most `width` of them, from zero to the highest of those shown.

    Zero and below is the lowest level; anything above zero is at least the one over it.
    """
    shown = values[-width:] if width > 0 else ()
    highest = max(shown, default=0)
    if highest <= 0:
        return levels[0] * len(shown)
    top = len(levels) - 1
    return "".join(levels[0 if value <= 0 else max(1, round(top * value / highest))] for value in shown)


def bar(share: float, width: int, full: str = "█", rest: str = "░") -> str:
    """`share` (0 to 1) of `width` columns; full only when all of it is reached."""
    filled = max(0, min(width, int(share * width)))
    return full * filled + rest * (width - filled)


def fitted(text: str, width: int) -> str:
    """One line of at most `width` columns; characters that are not printable become `?`."""
    clean = "".join(char if char.isprintable() else "?" for char in text)
    if cell_len(clean) <= width:
        return clean
    return set_cell_size(clean, width - 1) + "~" if width > 0 else ""
