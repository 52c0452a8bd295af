from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pipeline.consumer.seen_events import Remembered


def is_new(remembered: Remembered[int], key: int) -> bool:
    new = remembered.get(str(key)) is None
    if new:
        remembered.put(str(key), key)
    return new


@given(st.lists(st.integers(0, 20)))
def test_with_room_for_all_each_key_is_new_once(keys: list[int]) -> None:
    remembered: Remembered[int] = Remembered(21)
    assert Counter(key for key in keys if is_new(remembered, key)) == Counter(set(keys))


@given(st.lists(st.integers(0, 20)), st.integers(1, 5))
def test_what_was_seen_among_the_last_keys_is_known(keys: list[int], limit: int) -> None:
    """And no more keys than the limit are kept, whatever comes."""
    remembered: Remembered[int] = Remembered(limit)
    for at, key in enumerate(keys):
        recent = list(dict.fromkeys(reversed(keys[:at])))[:limit]
        assert is_new(remembered, key) is (key not in recent)
        assert len(remembered) <= limit


def test_what_was_put_last_is_known() -> None:
    remembered: Remembered[str] = Remembered(9)
    remembered.put("a", "1")
    remembered.put("a", "2")
    assert (remembered.get("a"), len(remembered)) == ("2", 1)
