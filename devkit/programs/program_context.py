"""What a program is started with besides its configuration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from devkit.container.limits import Container
from devkit.debug.debugger import Debugger
from devkit.guardian import Guardian
from devkit.programs.contained import EngineContainer
from devkit.programs.launch import Launch
from devkit.stack.stack import Stack

Say = Callable[[str], None]


@dataclass(frozen=True)
class ProgramContext:
    """`arm` is its name, `directory` is for what the program is told, and `logs` for what its processes say.

    Each source topic has `source_partitions`; `ui` asks for the program's own user interface where it has one.
    `scratch` is for the program's temporary files alone, where it is to be known how much of the disk they take;
    `limits` are those of its processes, `environment` the variables that the scenario gives them. `start` is where the
    pipeline begins to read.
    """

    guardian: Guardian
    stack: Stack
    arm: str
    directory: Path
    logs: Path
    source_partitions: int = 1
    ui: bool = False
    debugger: Debugger | None = None
    scratch: Path | None = None
    limits: Container | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    start: str = "earliest"

    def with_environment(self, launch: Launch) -> Launch:
        """What the scenario gives wins."""
        return replace(launch, environment={**launch.environment, **self.environment})

    def engine_container(self) -> EngineContainer | None:
        """Where a program of the project runs if the stack has an engine that holds it to its memory."""
        if self.limits is None or self.limits.memory is None or self.scratch is None or self.stack.image is None:
            return None
        return EngineContainer(self.stack.image, self.limits.memory, self.directory, self.scratch)
