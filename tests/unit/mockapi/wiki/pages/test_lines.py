from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.pages.block import LINE_BYTES, MARKUP_BYTES, exactly, line_count, lines

keys = st.binary(min_size=1, max_size=16)


@given(st.integers(0, 3 << 12), st.integers(MARKUP_BYTES, 700_000), keys)
def test_lines_are_numbered_and_fill_the_room(first: int, total: int, key: bytes) -> None:
    pieces = list(lines(first, total, "r001", key))
    assert len(b"".join(pieces)) == total
    written = b"".join(pieces).decode().splitlines()
    assert len(written) == line_count(total)
    assert all(
        line.startswith(f'<p id="mw{number:07x}r001">') and line.endswith("</p>")
        for number, line in enumerate(written, start=first)
    )
    assert {len(line.encode()) + 1 for line in written[:-1]} <= {LINE_BYTES}


@given(st.integers(0, 1 << 13), st.integers(1, 4096), keys)
def test_the_number_a_line_gets_does_not_change_its_text(first: int, count: int, key: bytes) -> None:
    def texts(start: int) -> list[bytes]:
        return [
            line[len('<p id="mw0000000') :] for line in b"".join(lines(start, count * 100, "s000", key)).split(b"\n")
        ]

    assert texts(first) == texts(0)


@given(st.text(max_size=30), st.integers(0, 60))
def test_text_is_cut_at_a_character_and_filled_up(text: str, width: int) -> None:
    shown = exactly(text, width)
    assert len(shown.encode()) == width
    assert text.startswith(shown.rstrip(".")) or shown.rstrip(".") == text.rstrip(".")
