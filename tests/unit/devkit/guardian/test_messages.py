import socket
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from devkit.docker.access import DockerAccess
from devkit.guardian import messages as m
from devkit.guardian.run_state import PartPlace

COMMANDS = [
    m.Spawn(request=1, name="kafka", argv=("a", "b c", "\n"), env={"X": "ü"}, stdout="/a", stderr="/b"),
    m.Signal(pid=7, number=15),
    m.KillTree(request=1),
    m.UseDocker(access=DockerAccess(command="/bin/docker", environment={"DOCKER_HOST": "unix:///x"})),
    m.Announce(
        addresses={"kafka": "127.0.0.1:1"}, parts=(PartPlace(name="kafka", address="127.0.0.1:1", container="ab"),)
    ),
    m.Release(state={"kafka": "127.0.0.1:1"}),
    m.Shutdown(),
]
EVENTS = [
    m.Hello(directory="/tmp/x"),
    m.Spawned(request=1, pid=7),
    m.Refused(request=1, reason="no such file\nor so"),
    m.Exited(request=1, code=-9),
    m.TreeKilled(request=1),
    m.Released(),
    m.Noted(),
    m.Down(left="containers, as no engine answers"),
]


def test_all_kinds_are_tried() -> None:
    assert {type(message) for message in COMMANDS} == set(get_args(get_args(m.Command)[0]))
    assert {type(message) for message in EVENTS} == set(get_args(get_args(m.Event)[0]))


def sent(message: BaseModel) -> bytes:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        m.send(ours, message)
        return theirs.recv(65536)


@pytest.mark.parametrize(
    ("message", "adapter"),
    [*((command, m.COMMANDS) for command in COMMANDS), *((event, m.EVENTS) for event in EVENTS)],
    ids=lambda one: type(one).__name__,
)
def test_a_message_arrives_as_it_was_sent_on_one_line(message: BaseModel, adapter: TypeAdapter[BaseModel]) -> None:
    (line,) = m.LineBuffer().feed(sent(message))
    assert adapter.validate_json(line) == message


@pytest.mark.parametrize("line", [b"", b"{}", b'{"op": "dance"}', b'{"op": "signal", "pid": 1, "number": 1, "x": 1}'])
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(ValidationError):
        m.COMMANDS.validate_json(line)


def test_sending_to_nobody_is_an_error() -> None:
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours, pytest.raises(OSError, match="pipe"):
        m.send(ours, m.Shutdown())


@given(st.lists(st.binary().filter(lambda line: b"\n" not in line)), st.binary().map(lambda b: b.replace(b"\n", b"")))
def test_lines_come_whole_wherever_the_stream_is_cut(lines: list[bytes], rest: bytes) -> None:
    stream = b"".join(line + b"\n" for line in lines) + rest
    for size in (1, 2, 7, 65536):
        buffer = m.LineBuffer()
        pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert [line for piece in pieces for line in buffer.feed(piece)] == lines
        # What came last is kept until its line ends.
        assert list(buffer.feed(b"!\n")) == [rest + b"!"]
