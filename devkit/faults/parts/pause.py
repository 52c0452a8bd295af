"""`pause: {part: kafka}`: a part stands still. Its connections stay open, and nobody answers on them."""

import contextlib
from dataclasses import dataclass
from typing import ClassVar

import psutil

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
        silent, state = not answers(self.part.address), _state(self.part)
        self.part.pull("resume")
        said = "nothing" if silent else "requests all the same"
        return Proof(silent, f"{state}, and it answered {said}")


def _state(part: Part) -> str:
    pid = part.life.pid
    if pid is None:
        return f"container {part.life.container} was paused"
    with contextlib.suppress(psutil.NoSuchProcess):
        return f"process {pid} was {psutil.Process(pid).status()}"
    return f"process {pid} was gone"


def _undo(part: Part, *, outlives_run: bool) -> Undo:
    life = part.life
    if life.container is not None:
        return Undo(data={"container": life.container}, outlives_run=outlives_run)
    assert life.pid is not None, "a part that can be paused is a process or a container"
    return Undo(data=as_data(psutil.Process(life.pid)), outlives_run=outlives_run)
