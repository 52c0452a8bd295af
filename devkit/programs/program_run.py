"""A program in an arm: its supervisor, what has been seen of it, and its processes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from signal import SIGKILL

import psutil

from devkit.container.container_watch import Contained, ContainerWatch, kill_at_once
from devkit.container.disk import clear, disk_usage
from devkit.container.limits import Container
from devkit.container.memory import split, tree_memory
from devkit.observe.logs.first_errors import Complaint
from devkit.observe.program_observation import ONLY
from devkit.observe.timeline.kit_events import ProgramEvent
from devkit.programs.contained import ContainedProcess
from devkit.programs.launch import Addition, Launch
from devkit.programs.program import ConfiguredProgram
from devkit.programs.program_context import ProgramContext
from devkit.programs.program_state import ProgramState
from devkit.programs.role import Role
from devkit.programs.supervisor import Restart, Supervisor
from devkit.programs.supervisor_policy import SupervisorPolicy
from devkit.programs.view import View


@dataclass(frozen=True)
class Policy:
    """When a program is started: once all that it `needs` run, and again after an end as `supervisor` says. `container`
    is what its processes may use; where it `may_refuse`, a refused start is an outcome and no error of the run, and
    where it `may_never_run`, so is an end before its query began. `variables` are those of its environment that are
    looked at; the jitter of its delays is drawn from `seed`.
    """

    supervisor: SupervisorPolicy = field(default_factory=SupervisorPolicy)
    restart: Restart = "always"
    needs: tuple[str, ...] = ()
    container: Container | None = None
    may_refuse: bool = False
    may_never_run: bool = False
    variables: tuple[str, ...] = ()
    seed: int = 0


@dataclass
class ProgramRun:
    """`name` is empty for the only program of an arm."""

    name: str
    configured: ConfiguredProgram
    context: ProgramContext
    policy: Policy
    state: ProgramState = field(default_factory=ProgramState)
    view: View = field(init=False)
    container: ContainerWatch | None = field(init=False)
    supervisor: Supervisor = field(init=False)
    current: ConfiguredProgram = field(init=False)
    """The configuration of its newest start, which an operator may have changed; `configured` is the arm's."""
    _launch: Launch | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.current = self.configured
        self.container = self._watch(self.policy.container) if self.policy.container else None
        self.view = self.configured.view(self.state, self.context)
        self.supervisor = Supervisor(
            self.context.guardian,
            self.view,
            logs=self.context.logs,
            policy=self.policy.supervisor,
            may_refuse=self.policy.may_refuse,
            may_never_run=self.policy.may_never_run,
            variables=self.policy.variables,
            restart=self.policy.restart,
            seed=self.policy.seed,
            name=self.label,
            container=self.container,
        )

    @property
    def label(self) -> str:
        """The name in logs and messages; `pipeline` for the only program, a command too."""
        return self.name or ONLY

    @property
    def is_started(self) -> bool:
        """Stays true once its first process was started, also after that has ended."""
        return self.supervisor.starts > 0

    @property
    def is_running(self) -> bool:
        """Whether its newest process runs and is ready."""
        return self.state.process is not None

    @property
    def launch(self) -> Launch:
        """How it is started; what it reads is on disk from then on."""
        if self._launch is None:
            self._launch = self.context.completed(self.current.launch(self.context))
        return self._launch

    def change(self, configured: ConfiguredProgram) -> None:
        """From its next start on it has this configuration; what it reads is written again."""
        if configured != self.current:
            self.current, self._launch = configured, None

    def start(self, addition: Addition | None = None) -> None:
        """Start it for the first time. Raises StackError."""
        self.supervisor.start(self.launch, addition)
        if not self.view.says_when_it_runs:
            self.state.process = 1

    def poll(self) -> Iterator[ProgramEvent]:
        """See `Supervisor.poll`."""
        return self.supervisor.poll()

    def stop(self) -> None:
        """Kills its newest process; `rest` then has the events that were not polled."""
        self.supervisor.stop()

    def rest(self) -> Iterator[ProgramEvent]:
        """See `Supervisor.rest`."""
        return self.supervisor.rest()

    def complaints(self) -> tuple[Complaint, ...]:
        """Its first complaints when something went wrong; empty where it logged none."""
        complaints = self.state.complaints
        last = None if complaints.has_error else self.supervisor.last_complaint()
        return (*complaints.found, *([last.model_copy(update={"program": self.name})] if last else []))

    def tree(self) -> list[psutil.Process]:
        """The living processes of the newest start, found by their mark."""
        process = self.supervisor.process
        return process.tree() if process else []

    def first_pid(self) -> int:
        """The id of its newest process, 0 where there is none."""
        process = self.supervisor.process
        return process.pid if process else 0

    def _watch(self, limits: Container) -> ContainerWatch:
        scratch = self.context.scratch

        def contained() -> ContainedProcess | None:
            process = self.supervisor.process
            return process if isinstance(process, ContainedProcess) else None

        def kill() -> None:
            if (process := contained()) is not None:
                process.signal(SIGKILL)
            else:
                kill_at_once(self.tree(), self.first_pid())

        return ContainerWatch(
            limits,
            Contained(
                memory=lambda: tree_memory(self.tree(), self.first_pid()),
                split=split,
                disk=lambda: disk_usage(scratch) if scratch else 0,
                kill=kill,
                clear=lambda: clear(scratch) if scratch else None,
                engine=contained,
            ),
        )

    def processes(self, role: Role) -> list[psutil.Process]:
        """The processes of a role in its tree; none where the program has no such role, or does not run."""
        process = self.supervisor.process
        if process is None:
            return []
        return [member for member in self.tree() if self.configured.role_of(member, process.pid) == role]
