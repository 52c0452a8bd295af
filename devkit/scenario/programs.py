"""The programs under test of a scenario: what is run, which programs must run before, and when it is restarted.

The first is the main one: figures are of it, and so are expectations that name no program. `pipeline` and the arms' own
settings apply to it, and to other programs with the same configuration model.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, ValidationInfo

from devkit.errors import UsageError
from devkit.programs.registry import find_program
from devkit.programs.supervisor import Restart
from devkit.programs.unknown_program import unknown_program
from devkit.scenario.launch_settings import LaunchSettings
from devkit.traffic.model import DIRECTORY


def _check_run(run: str, info: ValidationInfo) -> str:
    try:
        find_program(run, (info.context or {}).get(DIRECTORY))
    except UsageError as error:
        raise ValueError(f"{error}; {error.hint}" if error.hint else str(error)) from error
    return run


ProgramName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,30}$")]


def empty_mapping(value: object) -> object:
    """`arms: {fixed: }` is an arm with nothing of its own."""
    return {} if value is None else value


Overlay = Annotated[dict[str, Any], BeforeValidator(empty_mapping, json_schema_input_type=dict[str, Any] | None)]
"""Settings that lie on top of others, mapping by mapping."""


class ProgramSettings(LaunchSettings):
    """What one program has of its own: `configuration` as its kind takes it, and what it is started with."""

    configuration: Overlay = Field(
        default={},
        description="Configuration of this program alone, as its kind takes it.",
        examples=[{"batch": {"max_offsets": 50}}],
    )


class ProgramSpec(ProgramSettings):
    """One program: what is run, what has to run before, and after which ends it is started again."""

    run: Annotated[str, AfterValidator(_check_run)] = Field(
        description="Kind of the program and what it is of that kind: `pipeline`, perhaps with its job, "
        "`consumer`, or `command` with a command line. Paths in that are relative to the scenario's file, and its "
        "`python` is the kit's.",
        examples=["command python check.py"],
    )
    needs: tuple[ProgramName, ...] = Field(
        default=(), description="Programs that must run before this one is started.", examples=[["html"]]
    )
    restart: Restart = Field(
        default="always",
        description="After which ends it is started again: each (`always`), those with another exit code than 0 "
        "(`on-failure`), or none (`never`).",
    )


Programs = dict[ProgramName, ProgramSpec]


def never_started(programs: Mapping[str, ProgramSpec]) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """Needs that cannot be met, with their places below `programs`."""
    for name, spec in programs.items():
        for number, need in enumerate(spec.needs):
            if need not in programs:
                yield (name, "needs", number), unknown_program(need, programs)
    waiting = {name: {need for need in spec.needs if need in programs} for name, spec in programs.items()}
    while ready := [name for name, needs in waiting.items() if not needs]:
        waiting = {name: needs.difference(ready) for name, needs in waiting.items() if name not in ready}
    if waiting:
        yield (min(waiting), "needs"), f"is never started, as these wait for one another: {', '.join(sorted(waiting))}"
