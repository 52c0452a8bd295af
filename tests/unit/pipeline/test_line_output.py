"""Of a reader that does not read: whoever writes goes on, and says later what is missing."""

import os
import threading
from collections.abc import Iterator
from typing import TextIO

import pytest

from pipeline.log import LineOutput

LONG = "x" * 300_000  # more than a pipe holds


@pytest.fixture
def pipe() -> Iterator[tuple[int, TextIO]]:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as stream:
        yield reader, stream
    os.close(reader)


def empty(reader: int) -> bytes:
    """What stands in the pipe."""
    os.set_blocking(reader, False)
    found = b""
    try:
        while piece := os.read(reader, 1 << 20):
            found += piece
    except BlockingIOError:
        return found
    return found


def test_a_line_for_which_there_is_no_room_is_lost_and_counted(pipe: tuple[int, TextIO]) -> None:
    reader, stream = pipe
    output = LineOutput(0.0)
    output.write("first", stream)
    output.write(LONG, stream)
    output.write("third", stream)
    assert output.take_lost() == 0, "there is none to hear of it"
    assert empty(reader).startswith(b"first\nxxx")
    output.write("fourth", stream)
    assert output.take_lost() == 2
    assert output.take_lost() == 0
    # The end of the one that was begun, so that this one begins a line.
    assert empty(reader) == b"\nfourth\n"


def test_a_line_that_a_signal_breaks_off_has_an_end(pipe: tuple[int, TextIO]) -> None:
    reader, stream = pipe

    def clock() -> float:
        if len(empty(reader)) > len("first\n"):
            raise KeyboardInterrupt
        return 0.0

    output = LineOutput(60.0, clock)
    output.write("first", stream)
    with pytest.raises(KeyboardInterrupt):
        output.write(LONG, stream)
    empty(reader)
    output.write("third", stream)
    assert empty(reader) == b"\nthird\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="of Linux")  # noqa: PTH110
def test_a_line_that_a_full_disk_does_not_take_is_counted_too(pipe: tuple[int, TextIO]) -> None:
    reader, stream = pipe
    output = LineOutput(60.0)
    with open("/dev/full", "w") as full:  # noqa: PTH123
        output.write("first", full)
        output.write("second", full)
    assert output.take_lost() == 0
    output.write("third", stream)
    assert output.take_lost() == 2
    assert empty(reader) == b"third\n"


def test_the_first_line_alone_waits_for_room(pipe: tuple[int, TextIO]) -> None:
    reader, stream = pipe
    now = [0.0]

    def clock() -> float:
        now[0] += 1.0
        return now[0]

    output = LineOutput(3.0, clock)
    output.write(LONG, stream)
    waited, before = now[0], now[0]
    assert waited > 3.0
    output.write("second", stream)
    assert now[0] - before == 2.0, "it has looked once"
    empty(reader)
    output.write("third", stream)
    assert empty(reader).endswith(b"third\n")


def test_a_reader_that_reads_gets_a_long_line_whole(pipe: tuple[int, TextIO]) -> None:
    reader, stream = pipe
    found = bytearray()
    writer = threading.Thread(target=LineOutput(60.0).write, args=(LONG, stream))
    writer.start()
    while len(found) <= len(LONG):
        found += os.read(reader, 1 << 16)
    writer.join()
    assert found == f"{LONG}\n".encode()


def test_another_process_may_share_a_pipe_that_does_not_block(pipe: tuple[int, TextIO]) -> None:
    reader, stream = pipe
    os.set_blocking(stream.fileno(), False)
    output = LineOutput(0.0)
    output.write(LONG, stream)
    assert empty(reader)
    output.write("second", stream)
    assert empty(reader) == b"\nsecond\n"
