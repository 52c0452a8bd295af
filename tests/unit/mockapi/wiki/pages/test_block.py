import difflib
import gzip
import hashlib

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.block import LINE_BYTES, MARKUP_BYTES, Block, exactly, line_count, lines, most_changed_bytes
from tests.unit.mockapi.conftest import make_page, revision_of
from tests.unit.mockapi.wiki.pages.documents import render_block

FRAMED_FROM = 500

sizes = st.one_of(st.integers(FRAMED_FROM, 5_000), st.integers(FRAMED_FROM, 60_000))
seeds = st.integers()
titles = st.text(min_size=1, max_size=255)


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    size = draw(sizes)
    return Block(size, draw(st.integers(128, most_changed_bytes(size))))


def escaped_bytes(body: bytes) -> int:
    """How much JSON adds to the text, without the quotes around it."""
    return len(orjson.dumps(body.decode())) - 2 - len(body)


@settings(deadline=None, max_examples=60)
@given(blocks(), seeds, st.integers(0, 4095))
def test_the_size_is_exact_and_every_line_unique(block: Block, seed: int, n: int) -> None:
    body = render_block(seed, revision_of(make_page(), n), block)
    lines = body.splitlines()
    assert len(body) == block.size_bytes
    assert len(set(lines)) == len(lines)
    assert body.decode().isprintable() is False  # newlines
    assert all(len(line) < 230 for line in lines if not line.startswith(b"<!--"))


@settings(deadline=None, max_examples=60)
@given(blocks(), seeds, seeds, titles, st.integers(1, 2**40), st.integers(0, 4095))
def test_escapes_and_lines_follow_from_the_size_alone(
    block: Block, seed: int, other_seed: int, title: str, page_id: int, n: int
) -> None:
    one = render_block(seed, revision_of(make_page(), 1), block)
    other = render_block(other_seed, revision_of(make_page(page_id, title=title, wiki="x"), n), block)
    assert len(one) == len(other)
    assert escaped_bytes(one) == escaped_bytes(other)
    assert one.count(b"\n") == other.count(b"\n")


@settings(deadline=None, max_examples=60)
@given(blocks(), seeds, st.integers(1, 4095))
def test_revision_and_parent_differ_in_one_block_of_that_size(block: Block, seed: int, n: int) -> None:
    page = make_page()
    old = render_block(seed, revision_of(page, n - 1), block).splitlines(keepends=True)
    new = render_block(seed, revision_of(page, n), block).splitlines(keepends=True)
    changed = [at for at, (before, after) in enumerate(zip(old, new, strict=True)) if before != after]
    assert changed == list(range(changed[0], changed[-1] + 1))
    removed, added = old[changed[0] : changed[-1] + 1], new[changed[0] : changed[-1] + 1]
    assert sum(map(len, removed)) == sum(map(len, added)) == block.changed_bytes
    assert not set(removed) & set(new)
    assert not set(added) & set(old)


@settings(deadline=None, max_examples=10)
@given(seeds, seeds)
def test_a_diff_has_the_same_size_for_every_seed(seed: int, other_seed: int) -> None:
    def diff(of_seed: int) -> str:
        page, block = make_page(), Block(30_000, 5_000)
        old, new = (render_block(of_seed, revision_of(page, n), block).decode().splitlines() for n in (3, 4))
        return "\n".join(difflib.unified_diff(old, new, lineterm=""))

    one, other = diff(seed), diff(other_seed)
    assert one.count("\n@@ ") == 1
    assert len(one.encode()) == len(other.encode())
    assert escaped_bytes(one.encode()) == escaped_bytes(other.encode())


def test_seventeen_megabytes_compress_well_under_a_third() -> None:
    body = render_block(1, revision_of(make_page(), 1), Block(17_300_219, 65_536))
    assert len(body) == 17_300_219
    assert len(gzip.compress(body, 6)) < len(body) / 5
    assert any(byte > 0x7F for byte in body)


def test_the_seed_decides_the_text(located: Located) -> None:
    block = Block(20_000, 1_000)
    assert render_block(1, located, block) == render_block(1, located, block)
    assert render_block(1, located, block) != render_block(2, located, block)


@settings(deadline=None)
@given(st.one_of(st.integers(0, 40), st.integers(0, FRAMED_FROM - 1)))
def test_a_document_without_a_frame_is_exact_too_and_differs_as_a_whole(size: int) -> None:
    old, new = (render_block(1, revision_of(make_page(), n), Block(size, 200)) for n in (1, 2))
    assert len(old) == len(new) == size
    assert escaped_bytes(old) == escaped_bytes(new)
    assert old != new or size < len("r001")
    assert most_changed_bytes(size) <= size


@pytest.mark.parametrize(
    ("size", "changed", "n", "digest"),
    [
        (4_096, 128, 1, "2cfd2093c23e4ac058cd2c18ea921bbe1c22e8dcb448bf2bfee8d41668102968"),
        (307_200, 65_536, 4_095, "96d1406e8c005527710f25babc76de18ce2dc01170ed91551f066ed695607f9a"),
        (1_000_003, 99_999, 2, "2dfa508fb462bab7f2bf245d699fdb8368fb3fd9dd50e5f4ddcc68c35d5e3378"),
    ],
)
def test_the_bytes_are_part_of_what_a_seed_promises(size: int, changed: int, n: int, digest: str) -> None:
    seed, page = (5, make_page(12_345)) if n == 4_095 else (1, make_page(7))
    body = render_block(seed, revision_of(page, n), Block(size, changed))
    assert hashlib.sha256(body).hexdigest() == digest


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
