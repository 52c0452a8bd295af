"""What a process says when it ends, whichever of its threads ends it."""

import os
from typing import NoReturn

from pipeline import log
from pipeline.driver.stall import StalledError
from pipeline.errors import PipelineError, RefusedError
from pipeline.events import Failed, Stopped


def say_failed(error: PipelineError) -> None:
    """For the log, and for a person."""
    stage = error.stage if isinstance(error, StalledError) else None
    refused = isinstance(error, RefusedError)
    log.say(Failed(error=str(error), refused=refused, stalled=stage is not None, stalled_in=stage))
    log.tell(error.render())


def end_at_once(how: PipelineError | Stopped) -> NoReturn:
    """Also where Spark does not answer. Nothing of it is left, unless this process is its child."""
    if isinstance(how, Stopped):
        log.say(how)
    else:
        say_failed(how)
    from pipeline.driver.jvm_end import kill_jvm  # with Spark's own modules, which other commands need not wait for

    kill_jvm()
    os._exit(how.exit_code if isinstance(how, PipelineError) else 0)
