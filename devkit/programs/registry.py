"""The kinds of programs there are, by the first word of `run:`."""

from dataclasses import replace
from pathlib import Path

from devkit.errors import UsageError
from devkit.programs.apply_program import ApplyKind
from devkit.programs.command.program import CommandKind
from devkit.programs.consumer import ConsumerKind
from devkit.programs.program import Program, ProgramKind
from devkit.programs.spark.program import SparkKind
from located_config.near import nearest
from located_config.registry import Registry

KINDS: Registry[ProgramKind] = Registry(
    "kind of program", {kind.name: kind for kind in (SparkKind(), ConsumerKind(), ApplyKind(), CommandKind())}
)


def register(kind: ProgramKind) -> None:
    """Add a kind, so that scenarios can name it. Raises ValueError when its name is taken."""
    KINDS.add(kind.name, kind)


def find_program(run: str, directory: Path | None = None) -> Program:
    """The program that `run:` names in a scenario file of `directory`. Raises UsageError that lists the kinds."""
    name, _, words = run.strip().partition(" ")
    kind = KINDS.get(name)
    if kind is None:
        near = nearest(name, KINDS)
        examples = "; ".join(f"`{other.example}`" for other in KINDS.values())
        hint = f"did you mean {near!r}?" if near else f"for example {examples}"
        raise UsageError(f"there is no kind of program {name!r}", hint=hint)
    if isinstance(kind, CommandKind):
        kind = replace(kind, directory=directory)
    return kind.program(words.strip())
