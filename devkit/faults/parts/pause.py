"""`pause: {part: kafka}`: a part stands still. Its connections stay open, without answers."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import psutil
from pydantic import Field
from typing_extensions import override

from devkit.docker.access import DockerAccess, find_docker
from devkit.errors import SetupError, StackError
from devkit.faults.claims import part_claims
from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.faults.suspension import container_state, process_data, resume_container, resume_process
from devkit.guardian.run_state import known_runs
from devkit.stack.parts.liveness import LivenessProbe
from devkit.stack.parts.part import TRIPLE_STORE, Part


class Pause(Fault):
    """Its process gets SIGSTOP, its container is paused; at the end it goes on where it stood."""

    name: ClassVar[str] = "pause"
    summary: ClassVar[str] = "a part stands still: connections stay open, nothing is answered"
    example: ClassVar[str] = "{part: kafka}"
    blinds: ClassVar[bool] = True

    part: str = Field(description="Part that stands still.")

    @override
    def needs(self) -> tuple[Need, ...]:
        return Need(self.part, "pause"), Need(self.part, "resume")

    @override
    def blinds_s(self) -> float:
        return 0.0 if self.part == TRIPLE_STORE else super().blinds_s()  # samples do without it

    @override
    def claims(self, topics: Mapping[str, str]) -> frozenset[str]:
        return part_claims(self.part)

    @override
    def begin(self, context: Context) -> Acting:
        part = context.parts[self.part]
        context.plan(_undo(part, context.run_id, outlives_run=context.is_guest))
        part.pull("pause")
        return _Paused(part, context.run_id, time.monotonic(), LivenessProbe(part.address))

    @classmethod
    @override
    def undo(cls, undo: Undo) -> None:
        if "container" in undo.data:
            resume_container(_engine_of(undo.data.get("run", "")), undo.data["container"])
            return
        resume_process(undo.data)


@dataclass(frozen=True)
class _Paused:
    part: Part
    run_id: str
    since_s: float
    probe: LivenessProbe
    """Asked when it had just stopped, to leave out the wait for the silence at the end."""
    clock: Callable[[], float] = time.monotonic

    def end(self) -> Proof:
        """Silence alone shows no pause: what is busy, or gone, is silent as well."""
        silent = not self.probe.is_answered()
        stood, state = _state(self.part, self.run_id)
        held_s = self.clock() - self.since_s
        self.part.pull("resume")
        answered = "nothing" if silent else "requests all the same"
        return Proof(silent and stood, f"{state} for {held_s:.1f} s, and it answered {answered}")


def _state(part: Part, run_id: str) -> tuple[bool, str]:
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
        state = container_state(_engine_of(run_id), container)
    except (SetupError, StackError) as error:  # what stands still has to go on all the same
        return False, f"the engine did not say how container {container} was ({error})"
    return state == "paused", f"container {container} was {state}"


def _engine_of(run_id: str) -> DockerAccess:
    """The engine of the run, which need not be the one of this process's environment."""
    return next((run.docker for run in known_runs() if run.run_id == run_id and run.docker), None) or find_docker()


def _undo(part: Part, run_id: str, *, outlives_run: bool) -> Undo:
    life = part.life
    if life.container is not None:
        return Undo(data={"container": life.container, "run": run_id}, outlives_run=outlives_run)
    assert life.pid is not None, "a part that can be paused is a process or a container"
    return Undo(data=process_data(psutil.Process(life.pid)), outlives_run=outlives_run)
