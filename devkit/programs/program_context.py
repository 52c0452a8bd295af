"""The context in which a program is started, besides its configuration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from devkit.container.limits import Container
from devkit.debug.debugger import Debugger
from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.programs.contained import EngineContainer
from devkit.programs.hosts_file import HostsFile
from devkit.programs.launch import Launch
from devkit.programs.places import CONFIG_FILE
from devkit.stack.stack import Stack

Reporter = Callable[[str], None]


@dataclass(frozen=True)
class ProgramContext:
    """`arm` is its name, `directory` is for files that the program reads, and `logs` for the output of its processes.

    Each source topic has `source_partitions`; `ui` asks for the program's own user interface where it has one.
    `scratch` is for the program's temporary files alone, where it is to be known how much of the disk they take;
    `limits` are those of its processes, `environment` the variables that the scenario gives them. `start` is where the
    pipeline begins to read. `slots`, `executors`, `spark` (settings), `arguments` and `raw_config` (the text) are what
    the scenario gives to this program. `fill` puts addresses and names into a text that has places for them; `hosts`
    names parts, None where programs find all of them by address.
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
    slots: int | None = None
    executors: int | None = None
    spark: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    raw_config: str | None = None
    fill: Callable[[str], str] = str
    hosts: HostsFile | None = None

    def completed(self, launch: Launch) -> Launch:
        """With what the scenario gives to any program: variables, which win, arguments, and a configuration file in the
        place of the one that the launch has written. Raises StackError where it has written none.
        """
        if self.raw_config is not None:
            file = self.directory / CONFIG_FILE
            if not file.exists():
                raise StackError(f"raw_config: this kind of program reads no {CONFIG_FILE}")
            file.write_text(self.raw_config, encoding="utf-8")
        argv = tuple(map(self.fill, (*launch.argv, *self.arguments)))
        given = {name: self.fill(value) for name, value in self.environment.items()}
        prefix = self.hosts.prefix if self.hosts else ()
        return replace(launch, argv=argv, environment={**launch.environment, **given}, prefix=prefix)

    @property
    def store_endpoint(self) -> str:
        """The object store as the program finds it."""
        endpoint = self.stack.object_store.endpoint
        return self.hosts.named("object-store", endpoint) if self.hosts else endpoint

    def engine_container(self) -> EngineContainer | None:
        """Where a program of the project runs if the stack has an engine that holds it to its memory."""
        if self.limits is None or self.limits.memory is None or self.scratch is None or self.stack.image is None:
            return None
        return EngineContainer(self.stack.image, self.limits.memory, self.directory, self.scratch)
