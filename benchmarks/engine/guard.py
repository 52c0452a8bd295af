"""A guard for the engine's speed: processor time an event beside the hand-written program's, a line for each commit.

It measures as `backfill` does. Rates and milliseconds depend on the machine; the engine's share of the hand-written
program's does so far less, so that is what is compared, with the last line of the same kind of processor: from one kind
to another it differs by a fifth.
"""

import statistics
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from benchmarks.engine.asyncio_peer import AsyncioPeer
from benchmarks.engine.backfill import play_rounds
from benchmarks.engine.race import Outcome
from benchmarks.engine.rounds import share
from benchmarks.engine.spark_engine import Engine
from benchmarks.engine.workload import Workload
from benchmarks.results import machine
from devkit.errors import DevkitError

LINES = Path(__file__).parents[1] / "guard.jsonl"
ENGINE, PEER = "engine", "asyncio"
GROWTH = 0.10
_OWN = {"engine: Python workers": "workers", "engine: JVM": "JVM", "engine: Python": "driver"}


class GuardLine(BaseModel):
    """Medians of the rounds. Times are processor milliseconds an event, of the steady part; `own_ms` are those of the
    engine's processes, `all_ms` those of each contestant with broker and mock. `share` is the engine's own divided by
    the hand-written program's, `rate_share` the same of events a second.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    commit: str
    measured_on: date
    events: int
    rounds: int
    own_ms: dict[str, float]
    hand_written_ms: float
    share: float
    all_ms: dict[str, float]
    rate_share: float
    first_output_s: float
    machine: dict[str, object]

    @property
    def processor(self) -> str:
        """Which kind, and how many cores of it."""
        return f"{self.machine.get('processor')}, {self.machine.get('cores')} cores"


def guard(events: int, rounds: int, directory: Path) -> GuardLine:
    """Measure the commit that is checked out. Raises DevkitError where the contestants did not do the same work."""
    commit = _commit()
    outcomes = play_rounds([AsyncioPeer(), Engine()], Workload(events), rounds=rounds, directory=directory)
    return summarize(outcomes, commit=commit, measured_on=datetime.now(UTC).date(), machine=machine())


def summarize(
    outcomes: Mapping[str, Sequence[Outcome]], *, commit: str, measured_on: date, machine: Mapping[str, object]
) -> GuardLine:
    """`outcomes` has those of each round by contestant. Raises DevkitError where these did not do the same work."""
    engine, peer = outcomes[ENGINE], outcomes[PEER]
    if errors := sum(outcome.errors for outcome in [*engine, *peer]):
        raise DevkitError(f"bench guard: {errors} events ended as errors, so the figures are not those of the work")
    if len({outcome.sample for outcome in [*engine, *peer]}) > 1:
        raise DevkitError("bench guard: the outputs differ between contestants or rounds, so the work was not the same")
    own = [{part: outcome.steady_cpu_ms.get(role, 0.0) for role, part in _OWN.items()} for outcome in engine]
    written = [_contestants_ms(outcome) for outcome in peer]
    shares = [_contestants_ms(one) / other for one, other in zip(engine, written, strict=True)]
    return GuardLine(
        commit=commit,
        measured_on=measured_on,
        events=engine[0].events,
        rounds=len(engine),
        own_ms={part: _median(parts[part] for parts in own) for part in _OWN.values()},
        hand_written_ms=_median(written),
        share=_median(shares),
        all_ms={name: _median(sum(one.steady_cpu_ms.values()) for one in outcomes[name]) for name in (ENGINE, PEER)},
        rate_share=share(outcomes, ENGINE, PEER, "steady")["median"],
        first_output_s=_median(outcome.first_output_s for outcome in engine),
        machine=dict(machine),
    )


def has_grown(line: GuardLine, last: GuardLine) -> bool:
    return line.share > last.share * (1 + GROWTH)


def describe(line: GuardLine, last: GuardLine | None) -> str:
    """What was measured, and how it compares with the last line."""
    own = ", ".join(f"{part} {ms:.2f}" for part, ms in line.own_ms.items())
    text = (
        f"{line.commit}: engine's own {sum(line.own_ms.values()):.2f} ms an event ({own}), hand-written "
        f"{line.hand_written_ms:.2f}, share {line.share:.2f}; all processes {line.all_ms[ENGINE]:.2f} and "
        f"{line.all_ms[PEER]:.2f}; by rate {line.rate_share:.2f}; first output after {line.first_output_s:.1f} s\n"
    )
    if last is None:
        return f"{text}there is no line of this kind of processor to compare with: {line.processor}"
    change = f"share {line.share:.2f}, {last.share:.2f} at {last.commit} ({line.share / last.share - 1:+.1%})"
    if has_grown(line, last):
        return f"{text}SLOWER: {change}; more than {GROWTH:.0%} is too much"
    return f"{text}ok: {change}"


def last_alike(line: GuardLine, lines: Sequence[GuardLine]) -> GuardLine | None:
    """The last of them that was measured on the same kind of processor."""
    return next((one for one in reversed(lines) if one.processor == line.processor), None)


def read_lines(path: Path = LINES) -> list[GuardLine]:
    return [GuardLine.model_validate_json(line) for line in path.read_text().splitlines()] if path.exists() else []


def record(line: GuardLine, path: Path = LINES) -> None:
    with path.open("a") as lines:
        lines.write(line.model_dump_json() + "\n")


def _contestants_ms(outcome: Outcome) -> float:
    """Of its own processes, without broker and mock."""
    return sum(ms for role, ms in outcome.steady_cpu_ms.items() if role.startswith(f"{outcome.contestant}: "))


def _median(values: Iterable[float]) -> float:
    return round(statistics.median(values), 3)


def _commit() -> str:
    argv = ["git", "-C", str(LINES.parent), "describe", "--always", "--dirty", "--abbrev=8", "--exclude=*"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
