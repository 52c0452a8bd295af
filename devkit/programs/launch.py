"""How a program's process is started: what every start has, and what the first one and the later ones add."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from devkit.guardian import Guardian, ManagedProcess
from devkit.programs.contained import EngineContainer


@dataclass(frozen=True)
class Addition:
    """Arguments and environment that one start has in addition."""

    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def with_arguments(self, arguments: tuple[str, ...]) -> "Addition":
        """The same with these arguments after its own."""
        return replace(self, arguments=(*self.arguments, *arguments))


NOTHING = Addition()


@dataclass(frozen=True)
class Launch:
    """A command line and its environment. `first` is for a start where nothing is there yet, `again` for later ones.

    `scratch` is a directory of its own for temporary files; without it they go where the whole run's do. `container` is
    where the command line is meant to run, if not on this machine. `prefix` is a command that starts it with its own
    process id.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    first: Addition = NOTHING
    again: Addition = NOTHING
    scratch: Path | None = None
    container: EngineContainer | None = None
    prefix: tuple[str, ...] = ()

    def with_addition(self, addition: Addition) -> tuple[list[str], dict[str, str]]:
        """The command line and the environment of a start."""
        return [*self.argv, *addition.arguments], {**self.environment, **addition.environment}

    def spawn(self, guardian: Guardian, name: str, *, logs: Path, addition: Addition | None = None) -> ManagedProcess:
        """Start a process; its output and its errors go into files of their own. Without `addition` it is a first
        start. Raises StackError.
        """
        addition = self.first if addition is None else addition
        argv, environment = self.with_addition(addition)
        if self.container is not None:
            return self.container.spawn(guardian, name, argv, environment, logs=logs)
        words = [*self.prefix, *argv]
        return guardian.spawn(name, words, logs=logs, env=environment, split=True, scratch=self.scratch, program=True)
