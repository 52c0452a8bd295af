"""`pause: {part: kafka}`: a part stands still. Its connections stay open, and nobody answers on them."""

from dataclasses import dataclass
from typing import ClassVar

import psutil

from devkit.errors import StackError
from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.faults.parts.answering import answers
from devkit.faults.stopped import as_data, go_on
from devkit.stack.parts.part import Part


class Pause(Fault):
    """Its process gets SIGSTOP, its container is paused; at the end it goes on where it stood."""

    name: ClassVar[str] = "pause"
    summary: ClassVar[str] = "a part stands still: connections stay open, nothing is answered"
    example: ClassVar[str] = "{part: kafka}"
    blinds: ClassVar[bool] = True

    part: str

    def needs(self) -> tuple[Need, ...]:
        return Need(self.part, "pause"), Need(self.part, "resume")

    def begin(self, context: Context) -> Acting:
        part = context.parts[self.part]
        context.plan(_undo(part, outlives_run=context.is_guest))
        part.pull("pause")
        return _Paused(part)

    @classmethod
    def undo(cls, undo: Undo) -> None:
        if "container" in undo.data:
            from devkit.docker.access import find_docker
            from devkit.docker.command import docker

            docker(find_docker(), ["unpause", undo.data["container"]], what="resuming a container")
            return
        go_on(undo.data)


@dataclass(frozen=True)
class _Paused:
    part: Part

    def end(self) -> Proof:
        """Silence alone shows no pause: what is busy, or gone, is silent as well."""
        silent = not answers(self.part.address)
        stood, state = _state(self.part)
        self.part.pull("resume")
        said = "nothing" if silent else "requests all the same"
        return Proof(silent and stood, f"{state}, and it answered {said}")


def _state(part: Part) -> tuple[bool, str]:
    """Whether it stands still, and that in words."""
    pid, container = part.life.pid, part.life.container
    if pid is not None:
        try:
            status = psutil.Process(pid).status()
        except psutil.NoSuchProcess:
            return False, f"process {pid} was gone"
        return status == psutil.STATUS_STOPPED, f"process {pid} was {status}"
    assert container is not None, "a part that can be paused is a process or a container"
    try:
        said = _status_of(container)
    except StackError as error:
        return False, f"the engine did not say how container {container} was ({error})"
    return said == "paused", f"container {container} was {said}"


def _status_of(container: str) -> str:
    from devkit.docker.access import find_docker
    from devkit.docker.command import docker

    words = ["container", "inspect", "--format", "{{.State.Status}}", container]
    return docker(find_docker(), words, what="looking at a container").strip()


def _undo(part: Part, *, outlives_run: bool) -> Undo:
    life = part.life
    if life.container is not None:
        return Undo(data={"container": life.container}, outlives_run=outlives_run)
    assert life.pid is not None, "a part that can be paused is a process or a container"
    return Undo(data=as_data(psutil.Process(life.pid)), outlives_run=outlives_run)
