import asyncio
import os
import tempfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.fetch.in_flight import InFlightBytes
from pipeline.fetch.spool import Spool, unnamed_file


@given(
    pieces=st.lists(st.binary(min_size=1, max_size=9), max_size=12), inline=st.integers(0, 60), bound=st.integers(1, 60)
)
def test_a_body_is_whole_wherever_its_parts_were(pieces: list[bytes], inline: int, bound: int) -> None:
    in_flight = InFlightBytes(bound)
    files: list[BytesIO] = []

    def open_file() -> BytesIO:
        files.append(BytesIO())
        return files[-1]

    async def run() -> bytes:
        with in_flight.record() as holding:
            spool = Spool(holding, inline, open_file=open_file)
            for piece in pieces:
                spool.write(piece)
                assert in_flight.memory_bytes <= min(inline, bound)
                assert in_flight.memory_bytes + in_flight.spooled_bytes == len(spool)
            assert spool.at_hand == (in_flight.spooled_bytes == 0)
            whole = bytes(await spool.whole())
            assert (in_flight.memory_bytes, in_flight.spooled_bytes) == (len(whole), 0)
            return whole

    body = b"".join(pieces)
    assert asyncio.run(run()) == body
    assert (in_flight.memory_bytes, in_flight.spooled_bytes) == (0, 0)
    assert bool(files) == (len(body) > min(inline, bound))
    assert all(file.closed for file in files)


@given(st.integers(0, 30), st.booleans())
def test_a_body_that_is_discarded_holds_nothing(size: int, was_read: bool) -> None:
    in_flight = InFlightBytes(100)

    async def run() -> None:
        with in_flight.record() as holding:
            spool = Spool(holding, 10)
            for _ in range(size):
                spool.write(b"x")
            if was_read:
                await spool.whole()
            spool.discard()
            spool.discard()
            assert (len(spool), holding.memory_bytes, holding.spooled_bytes) == (0, 0, 0)

    asyncio.run(run())


def test_a_spool_file_is_a_temporary_one_without_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with unnamed_file() as file:
        file.write(b"x")
        assert not list(tmp_path.iterdir())
        assert os.fstat(file.fileno()).st_dev == tmp_path.stat().st_dev
