import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.rdf.chunks import join_chunks, json_bytes, split_diff
from pipeline.rdf.revision_diff import TripleDiff
from pipeline.rdf.triples import Triple, serialize_triples

TRIPLES = st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1, max_size=30)
PARTS = st.lists(TRIPLES, max_size=8, unique=True).map(tuple)
DIFFS = st.builds(TripleDiff, PARTS, PARTS, PARTS, PARTS)


def all_triples(chunk: TripleDiff) -> tuple[Triple, ...]:
    return chunk.added + chunk.deleted + chunk.linked_shared + chunk.unlinked_shared


SMALL = TripleDiff(("a",), ("b",), ("c",), ("d",))


@pytest.mark.parametrize(
    ("diff", "limits", "chunks"),
    [
        pytest.param(SMALL, {}, [SMALL], id="a small one is one chunk"),
        pytest.param(TripleDiff(), {}, [TripleDiff()], id="so is an empty one"),
        pytest.param(
            TripleDiff(("aa", "bb", "cc"), ("dd",)),
            {"characters": 6},
            [TripleDiff(("aa", "bb")), TripleDiff(("cc",), ("dd",))],
            id="triples up to the limit with their line ends",
        ),
        pytest.param(
            TripleDiff(("a", "b" * 10, "c")),
            {"characters": 6},
            [TripleDiff(("a",)), TripleDiff(("b" * 10,)), TripleDiff(("c",))],
            id="a longer triple is a chunk by itself",
        ),
    ],
)
def test_the_chunks_of_a_diff(diff: TripleDiff, limits: dict[str, int], chunks: list[TripleDiff]) -> None:
    assert split_diff(diff, **limits) == chunks


def test_the_payload_is_measured_as_json() -> None:
    diff = TripleDiff(('"', "é", "a"))
    bytes_of_two = json_bytes('"') + json_bytes("é")
    assert bytes_of_two == len(r"\"\n") + len("é".encode() + rb"\n")
    assert split_diff(diff, payload_bytes=bytes_of_two) == [TripleDiff(('"', "é")), TripleDiff(("a",))]


@given(diff=DIFFS, characters=st.integers(1, 60), payload_bytes=st.none() | st.integers(1, 90))
def test_chunks_keep_the_limits_and_make_the_diff(diff: TripleDiff, characters: int, payload_bytes: int | None) -> None:
    chunks = split_diff(diff, characters=characters, payload_bytes=payload_bytes)
    assert join_chunks(chunks) == diff
    for chunk in chunks:
        text = serialize_triples(all_triples(chunk))
        is_single = len(chunk) == 1
        assert is_single or len(text) <= characters
        assert is_single or payload_bytes is None or len(orjson.dumps(text)) - 2 <= payload_bytes
        assert len(chunk) > 0 or len(chunks) == 1
