"""The probe's process: `python -m devkit.headroom.probe` does the quantum again and again, and writes a line for each.

It imports as little as it can, so that it starts at once and holds little memory. At 4 ms four times a second it uses
1.6 % of a core. The calibration at its start is denser, and first works without a pause, which brings a core that
saves power up to its speed.
"""

import contextlib
import itertools
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from devkit.headroom.quantum import work

BURST = 12
CALIBRATION = 12
_DENSE_S = 0.08
_EVERY_S = 0.25
_PRESSURE = Path("/proc/pressure/cpu")


def main() -> None:
    """Until it is killed, or its lines are not read any more."""
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        for paced, pause_s in _pauses():
            due_s = time.monotonic() + pause_s
            time.sleep(pause_s)
            worked = work()
            line = {
                "due_s": round(due_s, 6),
                "done_s": round(worked.done_s, 6),
                "core_s": round(worked.core_s, 6),
                "waited_s": waited_s(),
                "paced": paced,
            }
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()


def _pauses() -> Iterator[tuple[bool, float]]:
    """Whether a quantum stands for the time before it, and the pause until it is due; never quite regular, so that it
    does not keep step with anything.
    """
    for _ in range(BURST):
        yield False, 0.0
    for number in itertools.count():
        yield True, (_DENSE_S if number < CALIBRATION else _EVERY_S) * (0.8 + 0.4 * (number * 0.618 % 1))


def waited_s(file: Path = _PRESSURE) -> float | None:
    """Seconds since the machine started in which at least one task waited for a core; None where nothing counts it.

    This is the kernel's pressure stall information, which only Linux has.
    """
    try:
        first = file.read_text(encoding="ascii").splitlines()[0]
        return int(first.rsplit("total=", 1)[1]) / 1_000_000
    except (OSError, IndexError, ValueError):
        return None


if __name__ == "__main__":
    main()
