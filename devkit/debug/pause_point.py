"""Points at which a scenario stops until a person lets it go on: to look around, to put a fault in.

    stack      the parts are up, no arm has begun
    traffic    an arm's topics are made, nothing is published yet
    pipeline   an arm's query runs
    arm-end    an arm has ended and its pipeline is stopped; the audit comes next

A gate waits, and says what it waits for; the clock of the arm stands still meanwhile.
"""

import select
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal, TextIO, get_args

from devkit.errors import UsageError, WaitTimeoutError
from devkit.observe.arm_role import ArmName
from devkit.waiting import wait_until
from located_config.near import near_miss

Phase = Literal["stack", "traffic", "pipeline", "arm-end"]
PHASES: tuple[Phase, ...] = get_args(Phase)
_UNLIMITED = timedelta(days=365)
_LOOK = timedelta(milliseconds=100)
_RESUME = "resume"
_PAUSED = "paused"
"""Files in a run's directory: a person lets it go on, it waits."""


@dataclass(frozen=True)
class PausePoint:
    """A phase, of one arm or of each."""

    phase: Phase
    arm: ArmName | None = None

    @classmethod
    def parse(cls, text: str) -> "PausePoint":
        """`traffic` or `incident:traffic`. Raises UsageError that lists the phases."""
        before, colon, after = text.partition(":")
        phase = next((known for known in PHASES if known == (after if colon else before)), None)
        arm = before if colon else None
        if phase is None or (colon and (not arm or phase == "stack")):
            raise UsageError(
                f"--pause-at {text}: there is no such point",
                hint=f"{', '.join(PHASES)}; all but stack also of one arm, as incident:{PHASES[1]}",
            )
        return cls(phase, arm)

    def is_at(self, phase: Phase, arm: ArmName | None) -> bool:
        """A point that names no `arm` is at its phase in each of them."""
        return self.phase == phase and self.arm in (None, arm)


Gate = Callable[[str], None]
"""Gets the name of the point, and returns when the run may go on."""


@dataclass(frozen=True)
class Pauses:
    """The points of a run, and what waits at them."""

    points: Sequence[PausePoint] = ()
    gate: Gate = lambda _name: None
    clock: Callable[[], float] = time.monotonic

    def at(self, phase: Phase, arm: ArmName | None = None) -> float | None:
        """Wait if this is one of the points; how many seconds that took, or None when it is none."""
        if not any(point.is_at(phase, arm) for point in self.points):
            return None
        began = self.clock()
        self.gate(phase if arm is None else f"{arm}:{phase}")
        return self.clock() - began


NO_PAUSES = Pauses()


def require_arms(points: Sequence[PausePoint], arms: Collection[ArmName]) -> None:
    """Raises UsageError for a point of an arm that is not played: the run would never come there."""
    for point in points:
        if point.arm is not None and point.arm not in arms:
            raise UsageError(
                f"--pause-at {point.arm}:{point.phase}: no arm {point.arm!r} is played",
                hint=near_miss(point.arm, arms),
            )


def require_way_on(points: Sequence[PausePoint], limit: timedelta | None, stdin: TextIO | None) -> None:
    """Raises UsageError when there is no way to let a run go on: it would wait until it is killed."""
    if points and limit is None and not is_terminal(stdin):
        raise UsageError(
            "--pause-at without a terminal would wait for ever",
            hint="add --pause-limit 10m: the run goes on then, or earlier by `devkit resume`",
        )


def is_terminal(stdin: TextIO | None) -> bool:
    """False also for an input that is closed or None."""
    try:
        return stdin is not None and stdin.isatty()
    except ValueError:
        return False  # closed


@dataclass(frozen=True)
class PersonGate:
    """Waits for Enter at a terminal, for `devkit resume`, or for the limit; `still_up` raises when the stack dies.

    `paused` is called once it has said that it waits.
    """

    run_id: str
    directory: Path
    say: Callable[[str], None]
    still_up: Callable[[], None]
    limit: timedelta | None = None
    stdin: TextIO | None = None
    paused: Callable[[], None] = lambda: None

    def __call__(self, name: str) -> None:
        """Returns when the run may go on, also when nothing but the limit ended the wait."""
        has_terminal = is_terminal(self.stdin)
        ways = ["Enter"] if has_terminal else []
        ways += [f"`devkit resume --run-id {self.run_id}`"]
        limit = "" if self.limit is None else f", and so do {self.limit.total_seconds():g} s"
        self.say(f"paused at {name}: {' or '.join(ways)} goes on{limit}")
        self.paused()
        (self.directory / _RESUME).unlink(missing_ok=True)  # one that came too late for the pause before
        (self.directory / _PAUSED).touch()
        try:
            how = wait_until(
                lambda: self._way_on(has_terminal),
                what=f"a person to let the run go on at {name}",
                deadline=_UNLIMITED if self.limit is None else self.limit,
                interval=_LOOK,
            )
        except WaitTimeoutError:
            how = "the limit"
        finally:
            (self.directory / _PAUSED).unlink(missing_ok=True)
        self.say(f"goes on by {how}")

    def _way_on(self, has_terminal: bool) -> str | None:
        self.still_up()
        if (self.directory / _RESUME).exists():
            return "`devkit resume`"
        if has_terminal and self.stdin is not None and select.select([self.stdin], [], [], 0)[0]:
            self.stdin.readline()
            return "Enter"
        return None


def is_paused(directory: Path) -> bool:
    """Whether the run that has this directory waits at a point."""
    return (directory / _PAUSED).exists()


def resume(directory: Path) -> None:
    """Let the run that has this directory go on, if it is paused."""
    (directory / _RESUME).touch()
