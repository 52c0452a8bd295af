"""A first try of an operator: one start of the pipeline with a configuration that it may refuse.

It comes before the arm's traffic and has a checkpoint of its own, so a start that is not refused leaves nothing that
the arm could meet; its process is then ended as soon as its query runs.
"""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.observe.arm_observation import FirstTry
from devkit.observe.logs.log_end import in_short, written
from devkit.observe.logs.logs import LineTail
from devkit.programs.launch import Launch
from devkit.waiting import wait_until
from pipeline.events import Failed, Started

_START_TIMEOUT = timedelta(seconds=90)


def try_start(guardian: Guardian, launch: Launch, logs: Path, *, require_stack: Callable[[], None]) -> FirstTry:
    """Start and see. Raises StackError when the process ends for another reason than that it refused."""
    process = launch.spawn(guardian, "pipeline-tried-first", logs=logs)
    tail = LineTail(process.stdout)

    def outcome() -> FirstTry | None:
        require_stack()
        code = process.exit_code  # asked first: what it wrote before its end is then all there
        for event in tail.new_events():
            match event:
                case Started():
                    return FirstTry(None)
                case Failed(refused=True):
                    return FirstTry(event.error)
        if code is not None:
            raise StackError(
                f"the start that was tried first ended with exit code {code}, and did not say that it refused: "
                f"{in_short(process.last_words(6))}",
                hint=f"read its whole log, {written(process.stdout, process.stderr)}",
            )
        return None

    try:
        return wait_until(outcome, what="the pipeline to refuse its start or to begin", deadline=_START_TIMEOUT)
    finally:
        process.kill_tree()
