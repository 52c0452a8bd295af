from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pipeline.consumer.remembered import Remembered


@given(st.lists(st.integers(0, 20)))
def test_with_room_for_all_each_key_is_new_once(keys: list[int]) -> None:
    remembered = Remembered(21)
    new = Counter(key for key in keys if remembered.see(str(key), b"") is None)
    assert new == Counter(set(keys))


@given(st.lists(st.integers(0, 20)), st.integers(1, 5))
def test_what_was_seen_among_the_last_keys_is_known(keys: list[int], limit: int) -> None:
    """And no more keys than the limit are kept, whatever comes."""
    remembered = Remembered(limit)
    for at, key in enumerate(keys):
        recent = list(dict.fromkeys(reversed(keys[:at])))[:limit]
        assert remembered.see(str(key), b"") == (b"" if key in recent else None)
        assert len(remembered) <= limit


def test_what_was_seen_first_stands() -> None:
    remembered = Remembered(9)
    assert [remembered.see("a", what) for what in (b"1", b"2", b"1")] == [None, b"1", b"1"]
