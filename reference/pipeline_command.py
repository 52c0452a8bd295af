"""The command line of the pipeline."""

from pipeline.__main__ import main
from reference.click_page import click_page

_INTRODUCTION = """\
Runs a job, and looks after it: [Run a job](../running.md) tells how. Most commands take the job's
configuration file. [Exit codes](exit-codes.md) say how a command ended. `python -m pipeline --extend ./my_job.py`
before any of them [loads a job of your own](../extend.md)."""


def pipeline_command() -> str:
    """Every command of `python -m pipeline`."""
    return click_page(main, "python -m pipeline", _INTRODUCTION)
