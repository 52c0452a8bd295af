"""Uses one core until its standard input is closed: `python -m devkit.faults.machine.burn`.

The process that started it holds the other end, so it ends with that process, however that ends.
"""

import os
import select
import sys

_ROUNDS = 20_000
"""About a millisecond of work between two looks at standard input."""


def main() -> None:
    """Use one processor until standard input ends."""
    while True:
        total = 0
        for number in range(_ROUNDS):
            total += number
        if select.select([sys.stdin], [], [], 0)[0] and not os.read(sys.stdin.fileno(), 1):
            return


if __name__ == "__main__":
    main()
