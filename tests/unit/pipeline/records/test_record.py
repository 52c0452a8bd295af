from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.record import Position
from pipeline.records.size import serialized_size

PARTITIONS, OFFSETS = st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1)


def test_the_headers_name_the_source_in_fixed_widths() -> None:
    assert Position("a.b", 3, 41).headers() == (
        ("source-topic", b"a.b"),
        ("source-partition", b"0000000003"),
        ("source-offset", b"0000000000000000041"),
    )


@given(partition=PARTITIONS, offset=OFFSETS)
def test_a_records_size_does_not_depend_on_how_far_the_topic_has_come(partition: int, offset: int) -> None:
    headers = Position("a.b", partition, offset).headers()
    assert serialized_size(None, b"", headers) == serialized_size(None, b"", Position("a.b", 0, 0).headers())
    assert (int(headers[1][1]), int(headers[2][1])) == (partition, offset)


@given(st.lists(st.builds(Position, st.sampled_from(["a", "a/1", "1"]), PARTITIONS, OFFSETS), unique=True))
def test_positions_are_told_apart_by_their_text(positions: list[Position]) -> None:
    # Kafka's topic names have no slash.
    texts = {str(position) for position in positions if "/" not in position.topic}
    assert len(texts) == sum("/" not in position.topic for position in positions)
