import pytest

from mockapi.server.delivery import HALF, BytePlace, Offset
from tests.unit.mockapi.faults.planned import delivery, problem


@pytest.mark.parametrize(
    ("how", "first_line"),
    [("not hex", b"g5"), ("negative", b"-5"), ("huge", b"f" * 17), ("short", b"ff"), ("no line end", b"5")],
)
def test_a_chunk_that_breaks_the_framing(how: str, first_line: bytes) -> None:
    ending = delivery({"malformed_chunk": how}).ending
    assert ending is not None
    assert (ending.place, ending.offset, ending.chunked, ending.reset) == (BytePlace.IN_BODY, HALF, True, False)
    assert ending.then.partition(b"\r\n")[0] == first_line


def test_where_it_comes() -> None:
    ending = delivery({"malformed_chunk": {"after": 0}}).ending
    assert ending is not None
    assert ending.offset == Offset(count=0)
    assert "do.malformed_chunk.how: must be 'not hex', 'negative'" in problem({"malformed_chunk": "bad"})
