"""Messages between the command line and the guardian: one JSON object a line, over a stream socket."""

import socket
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from devkit.docker.access import DockerAccess
from devkit.guardian.run_state import PartPlace

GUARDIAN = 0
"""The request number of the guardian itself."""


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Spawn(_Message):
    """Start `argv` with the guardian's environment plus `env`; stdout and stderr replace the files named.

    `succeeds` is the process id of one that has ended: this one writes to the end of its files instead, and takes its
    place in the state file. `scratch` is a directory of its own for temporary files, in place of the run's. `program`
    is whether it is one of a program under test, which the state file then lists.
    """

    op: Literal["spawn"] = "spawn"
    request: int
    name: str
    argv: tuple[str, ...]
    env: dict[str, str]
    stdout: str
    stderr: str
    scratch: str | None = None
    succeeds: int | None = None
    program: bool = False


class Signal(_Message):
    """Send a signal to one process of the run."""

    op: Literal["signal"] = "signal"
    pid: int
    number: int


class KillTree(_Message):
    """Kill the process started by `request` and all that descends from it, orphans included."""

    op: Literal["kill_tree"] = "kill_tree"
    request: int


class UseDocker(_Message):
    """From now on the run may have containers: at its end, all with its label are removed."""

    op: Literal["use_docker"] = "use_docker"
    access: DockerAccess


class Announce(_Message):
    """Which parts the run has, and where they answer, for the state file."""

    op: Literal["announce"] = "announce"
    addresses: dict[str, str]
    parts: tuple[PartPlace, ...]


class Release(_Message):
    """Keep the run when the socket closes; from then on SIGTERM to the guardian ends it."""

    op: Literal["release"] = "release"
    state: dict[str, str]


class Shutdown(_Message):
    """End everything, then answer `Down` and exit."""

    op: Literal["shutdown"] = "shutdown"


class Hello(_Message):
    """The guardian is ready; `directory` is the run's, which it removes at the end."""

    event: Literal["hello"] = "hello"
    directory: str


class Spawned(_Message):
    """A process runs; `request` is that of the `Spawn`."""

    event: Literal["spawned"] = "spawned"
    request: int
    pid: int


class Refused(_Message):
    """A request failed; `reason` is for the operator."""

    event: Literal["refused"] = "refused"
    request: int
    reason: str


class Exited(_Message):
    """`code` as in `subprocess`: negative when a signal ended the process."""

    event: Literal["exited"] = "exited"
    request: int
    code: int


class TreeKilled(_Message):
    """A process is gone, and all its descendants."""

    event: Literal["tree_killed"] = "tree_killed"
    request: int


class Noted(_Message):
    """The state file has the last `use_docker` or `announce`."""

    event: Literal["noted"] = "noted"


class Released(_Message):
    """The guardian stays when the connection closes."""

    event: Literal["released"] = "released"


class Down(_Message):
    """Everything is ended; `left` says what could not be removed, and why."""

    event: Literal["down"] = "down"
    left: str | None = None


Command = Annotated[
    Spawn | Signal | KillTree | UseDocker | Announce | Release | Shutdown,
    Field(discriminator="op"),
]
Event = Annotated[
    Hello | Spawned | Refused | Exited | TreeKilled | Noted | Released | Down,
    Field(discriminator="event"),
]
COMMANDS: TypeAdapter[Command] = TypeAdapter(Command)
EVENTS: TypeAdapter[Event] = TypeAdapter(Event)


def send(sock: socket.socket, message: BaseModel) -> None:
    """Write one message; raises OSError when the other side is gone."""
    sock.sendall(message.model_dump_json().encode() + b"\n")


class LineBuffer:
    """Cuts what arrives on a stream into lines."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Complete lines, without their ends; the rest waits for the next call. Reads only when iterated."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        yield from lines
