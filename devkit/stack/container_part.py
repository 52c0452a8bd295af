"""A part that runs in a container, and its levers: those of the engine."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from typing_extensions import override

from devkit.docker.access import DockerAccess
from devkit.docker.command import docker
from devkit.guardian import Guardian
from devkit.stack.container_data import ContainerData
from devkit.stack.container_life import ContainerLife, follow
from devkit.stack.parts.data_directory import KeptData, prepare_data
from devkit.stack.parts.part import NOT_COPIED, Lever, Part, restore_nothing
from devkit.stack.parts.part_life import Life, require_running
from devkit.waiting import wait_until

_ENDING_S = 60
_ORDER = timedelta(seconds=_ENDING_S + 30)
_NOTICE = timedelta(seconds=15)

Order = Callable[[list[str]], str]
"""Has the engine do something with the container, and returns what it printed."""


class ContainerPart(Part):
    """`ready` waits until what this life runs answers; `restore` gives a container that was started again what the one
    before had in memory. `data` is what can be copied of it.
    """

    def __init__(
        self,
        life: ContainerLife,
        *,
        address: str,
        ready: Callable[[Life], None],
        restore: Callable[[], None] = restore_nothing,
        order: Order,
        succeed: Callable[[ContainerLife, str], ContainerLife],
        data: KeptData | None = None,
    ) -> None:
        self._life, self._address, self._ready, self._restore = life, address, ready, restore
        self._order, self._succeed, self._data = order, succeed, data

    @property
    @override
    def name(self) -> str:
        return self._life.name

    @property
    @override
    def address(self) -> str:
        return self._address

    @property
    @override
    def life(self) -> ContainerLife:
        return self._life

    def await_ready(self) -> None:
        """Wait until it answers. Raises StackError, with its last words when it has ended."""
        self._ready(self._life)

    @override
    def refusal(self, lever: Lever) -> str | None:
        return NOT_COPIED.get(lever) if self._data is None else None

    @override
    def pull(self, lever: Lever) -> None:
        self.require(lever)
        match lever:
            case "pause":
                require_running(self._life)
                if not self._is_paused():
                    self._run("pause")
            case "resume":
                require_running(self._life)
                self._unpause()
                self.await_ready()
            case "kill":
                self._end("kill")
            case "restart":
                self._start_again()
            case "copy" | "restore":
                self._start_again(prepare_data(self._data, lever))

    def _start_again(self, meanwhile: Callable[[], None] = restore_nothing) -> None:
        """`meanwhile` is done while the container does not run; it is started also when that fails."""
        self._end("stop", "--time", str(_ENDING_S))
        try:
            meanwhile()
        finally:
            self._run("start")
            began = self._run("inspect", "--format", "{{.State.StartedAt}}").strip()
            self._life = self._succeed(self._life, began)
            self.await_ready()
            self._restore()

    def _end(self, *order: str) -> None:
        life = self._life
        if life.exit_code is not None:
            life.require_guardian()
            return
        self._unpause()  # an engine does not end a container that is paused
        self._run(*order)
        wait_until(lambda: life.exit_code is not None, what=f"{self.name}'s container to end", deadline=_NOTICE)

    def _unpause(self) -> None:
        if self._is_paused():
            self._run("unpause")

    def _is_paused(self) -> bool:
        return self._run("inspect", "--format", "{{.State.Paused}}").strip() == "true"

    def _run(self, *order: str) -> str:
        return self._order(["container", *order, self._life.container])


def container_part(
    guardian: Guardian,
    access: DockerAccess,
    name: str,
    container: str,
    *,
    address: str,
    ready: Callable[[Life], None],
    restore: Callable[[], None] = restore_nothing,
    logs: Path,
    data: str | None = None,
) -> ContainerPart:
    """The part that this container runs; its output goes to `<logs>/<name>.log`, from its beginning. `data` is the
    volume in it whose data can be copied.
    """

    def order(words: list[str]) -> str:
        return docker(access, words, what=f"having {name}'s container {words[1]}", deadline=_ORDER)

    def succeed(before: ContainerLife, began: str) -> ContainerLife:
        return follow(guardian, access, name, container, logs, succeeds=before, since=began)

    life = follow(guardian, access, name, container, logs)
    kept = None if data is None else ContainerData(name, container, data, order, run_id=guardian.run_id)
    return ContainerPart(life, address=address, ready=ready, restore=restore, order=order, succeed=succeed, data=kept)
