"""The runs as a table: exit codes beside what they may be, and the figures that say why."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.verdicts.machine import Machine
from devkit.report.result import Result

INCONCLUSIVE = 3
_BUSY_INCONCLUSIVE_AT_MOST = 1
_SAMPLE_S = 0.5


@dataclass(frozen=True)
class Run:
    """One run; `result` is None where the harness failed. `deadline_s` and `stall_s` are those of its file."""

    scenario: str
    machine: Machine
    exit_code: int
    duration_s: float
    result: Result | None
    deadline_s: float
    stall_s: float

    @property
    def leaves(self) -> tuple[float, float] | None:
        """Of the fixed arm: the deadline over its length, and a commit's time over the longest without one."""
        if self.result is None or self.result.headroom is None or "fixed" not in self.result.arms:
            return None
        fixed, stretch = self.result.arms["fixed"], self.result.headroom.stretch
        flat_s = max(_SAMPLE_S, fixed.figures.flat_commit.duration_s if fixed.figures.flat_commit else 0.0)
        return stretch * self.deadline_s / fixed.duration_s, stretch * self.stall_s / flat_s


def is_as_it_should_be(machine: Machine, codes: Sequence[int]) -> bool:
    """Beside busy processes at most one run of a scenario is inconclusive; elsewhere, and else, each exits with 0."""
    counted = Counter(codes)
    allowed = _BUSY_INCONCLUSIVE_AT_MOST if machine == "busy" else 0
    return counted[0] + counted[INCONCLUSIVE] == len(codes) and counted[INCONCLUSIVE] <= allowed


def table(runs: Sequence[Run]) -> str:
    """Markdown; a row for each scenario on each machine."""
    heads = ["scenario", "machine", "runs", "exit 0", "1", "2", "3", "played twice", "stretch", "slowdown at start"]
    heads += ["worst 10 s", "deadline / arm", "stall / flat", "seconds", ""]
    rows = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for scenario, machine in dict.fromkeys((run.scenario, run.machine) for run in runs):
        rows.append(_row([run for run in runs if (run.scenario, run.machine) == (scenario, machine)]))
    return "\n".join(rows)


def _row(runs: Sequence[Run]) -> str:
    codes = [run.exit_code for run in runs]
    results = [run.result for run in runs if run.result is not None]
    headrooms = [result.headroom for result in results if result.headroom is not None]
    worst = [arm.headroom.worst_slowdown for result in results for arm in result.arms.values() if arm.headroom]
    leaves = [run.leaves for run in runs if run.leaves is not None]
    cells = [
        runs[0].scenario,
        runs[0].machine,
        len(runs),
        *(codes.count(code) for code in range(4)),
        sum(headroom.first_play is not None for headroom in headrooms),
        _range([headroom.stretch for headroom in headrooms]),
        _range([headroom.calibration.slowdown for headroom in headrooms]),
        _range(worst),
        _range([one[0] for one in leaves]),
        _range([one[1] for one in leaves]),
        _range([run.duration_s for run in runs]),
        "ok" if is_as_it_should_be(runs[0].machine, codes) else "**NOT AS IT SHOULD BE**",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _range(values: Sequence[float]) -> str:
    if not values:
        return ""
    least, most = min(values), max(values)
    return f"{least:.3g}" if least == most else f"{least:.3g}…{most:.3g}"
