from collections.abc import Iterator

from devkit.headroom.others import OthersUsage, busy_seconds
from devkit.observe.usage import Usage


class Own:
    def __init__(self, *cores: float) -> None:
        self._cores = iter(cores)

    def look(self) -> Usage:
        return Usage(next(self._cores), 0)


def counting(*values: float) -> Iterator[float]:
    return iter(values)


def test_what_others_use_is_all_less_the_runs_own() -> None:
    clock, busy = counting(0, 2, 4), counting(100, 103, 104)
    others = OthersUsage(Own(0, 0.4, 0.5), busy_s=lambda: next(busy), clock=lambda: next(clock))
    assert others.look() == 1.5 - 0.4
    assert others.look() == 0  # never below nothing, though the two are not read at one moment


def test_the_machine_has_worked() -> None:
    assert busy_seconds() > 0
