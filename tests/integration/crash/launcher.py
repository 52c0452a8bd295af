"""Runs the pipeline's command line and has it die by SIGKILL at an exact moment, so that it needs no hooks for tests.

    CRASH_POINT='{"target": "pipeline.deferral.ledger_log:LedgerLog.resolve", "moment": "before", …}' launcher.py run …

What stands in PIPELINE_CONSTANTS is set before it starts: `{"pipeline.kafka.sink:_MIN_PRODUCER_BUFFER": 1048576}`.
"""

import functools
import importlib
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pipeline import __main__ as command
from pipeline import log
from tests.integration.crash.gateway import use_lent_jvm
from tests.integration.crash.point import CONSTANTS_VARIABLE, CRASH_VARIABLE, CrashPoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashing:
    """Said by no pipeline: the last line of one that is about to die."""

    event: str = "crashing"
    moment: str
    target: str


def main() -> None:
    use_lent_jvm()
    if text := os.environ.get(CRASH_VARIABLE):
        plant(CrashPoint.model_validate_json(text))
    for target, value in json.loads(os.environ.get(CONSTANTS_VARIABLE, "{}")).items():
        owner, name = _find(target)
        setattr(owner, name, value)
    command.main()


def plant(point: CrashPoint) -> None:
    """Put a wrapper in the place of the point's target."""
    owner, name = _find(point.target)
    original = getattr(owner, name)
    calls = 0

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        if point.within not in (None, sys._getframe(1).f_code.co_name) or (point.nonempty and not args[-1]):
            return original(*args, **kwargs)
        calls += 1
        if calls < point.call:
            return original(*args, **kwargs)
        if point.moment == "before":
            _die(point)
        result = original(*args, **kwargs)
        _die(point)
        return result

    setattr(owner, name, wrapper)


def _find(target: str) -> tuple[Any, str]:
    module, _, path = target.partition(":")
    *owners, name = path.split(".")
    owner: Any = functools.reduce(getattr, owners, importlib.import_module(module))
    getattr(owner, name)
    return owner, name


def _die(point: CrashPoint, kill: Callable[[int, int], None] = os.kill) -> None:
    log.emit(Crashing(moment=point.moment, target=point.target))
    kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
