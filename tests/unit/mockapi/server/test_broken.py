from hypothesis import given
from hypothesis import strategies as st

from mockapi.server.delivery import BrokenText, Offset
from mockapi.server.message import Broken
from mockapi.server.reply import Held, Streamed


@given(st.text(max_size=300), st.integers(1, 400), st.integers(0, 400), st.integers(1, 50))
def test_so_many_bytes_are_broken_and_the_rest_stays(text: str, count: int, at: int, piece_bytes: int) -> None:
    data = text.encode()
    pieces = [data[start : start + piece_bytes] for start in range(0, len(data), piece_bytes)]
    body = Streamed(lambda: iter(pieces), len(data), len(data))
    broken = Broken(body, BrokenText(count, Offset(count=at)))
    made = b"".join(broken.pieces())
    assert len(made) == len(data) == broken.wire_bytes == broken.decoded_bytes
    differing = [n for n, (new, old) in enumerate(zip(made, data, strict=True)) if new != old]
    assert len(differing) == min(count, len(data))
    assert {made[n] for n in differing} <= {0xFF}
    assert not differing or differing[-1] - differing[0] == len(differing) - 1


def test_in_the_middle() -> None:
    broken = Broken(Held(b"abcdef"), BrokenText(2, Offset(share=0.5)))
    assert b"".join(broken.pieces()) == b"abc\xff\xfff"
    assert broken.held
