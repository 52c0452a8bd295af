"""`python -m pipeline apply` with its default configuration, on a stack that is up by itself."""

from collections.abc import Sequence
from pathlib import Path

from devkit.guardian import Guardian, ManagedProcess
from devkit.programs.apply_program import ApplyProgram
from devkit.programs.first_event import await_first_event
from devkit.programs.places import Places
from devkit.programs.program_context import ProgramContext
from devkit.stack.stack import Stack
from pipeline.events import ApplyStarted

APPLY = "apply"
"""Its name, and that of the directory of its configuration."""


def start_apply(
    guardian: Guardian, stack: Stack, logs: Path, places: Places, other_programs: Sequence[ManagedProcess] = ()
) -> ManagedProcess:
    """Start it on the output of `rdf-resolve`, and wait until it reads. Raises StackError, also when one of
    `other_programs` has ended.
    """
    directory = logs / APPLY
    directory.mkdir()
    context = ProgramContext(guardian, stack, arm="", directory=directory, logs=logs)
    process = ApplyProgram().configure(places, {}).launch(context).spawn(guardian, APPLY, logs=logs)
    await_first_event(
        process,
        lambda event: isinstance(event, ApplyStarted) or None,
        what="apply to begin to read mutations",
        other_programs=other_programs,
    )
    return process
