"""The command line of the pipeline."""

from docs.generate.click_page import click_page
from pipeline.__main__ import main

_INTRODUCTION = """\
Runs and operates a job; [Run a job](../running.md) is the guide. Most commands take the job's configuration
file. [Exit codes](exit-codes.md) lists how a command can end. `python -m pipeline --extend ./my_job.py COMMAND` first
[loads a job of your own](../extend.md)."""


def pipeline_command() -> str:
    """Every command of `python -m pipeline`."""
    return click_page(main, "python -m pipeline", _INTRODUCTION)
