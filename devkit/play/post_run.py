"""What follows a verdict that has been told: what makes the next run on this machine faster."""

import contextlib

from devkit.errors import INCONCLUSIVE
from devkit.play.options import RunOptions
from devkit.programs.program_context import Reporter
from devkit.report.result import Result
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve


def make_next_run_faster(scenario: Scenario, options: RunOptions, result: Result, say: Reporter) -> None:
    """Whatever becomes of it, the verdict stands; an interrupt ends it.

    Not beside a stack that is kept, which needs the memory, nor where the machine was perhaps too busy for a verdict.
    """
    if options.keep or result.exit_code == INCONCLUSIVE:
        return
    with contextlib.suppress(KeyboardInterrupt):
        for program in resolve(scenario, options.instead).programs.values():
            program.after_verdict(say)
