from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pipeline.consumer.remembered import Remembered


@given(st.lists(st.integers(0, 20)))
def test_with_room_for_all_each_id_is_new_once(ids: list[int]) -> None:
    remembered = Remembered(21)
    seen = Counter((event_id, remembered.see(str(event_id), b"")) for event_id in ids)
    assert all(seen[event_id, "new"] == 1 for event_id in set(ids))
    assert sum(seen.values()) == len(ids)


@given(st.lists(st.integers(0, 20)), st.integers(1, 5))
def test_what_was_seen_among_the_last_ids_is_known(ids: list[int], limit: int) -> None:
    """And no more ids than the limit are kept, whatever comes."""
    remembered = Remembered(limit)
    for at, event_id in enumerate(ids):
        recent = list(dict.fromkeys(reversed(ids[:at])))[:limit]
        assert remembered.see(str(event_id), b"") == ("repeat" if event_id in recent else "new")
        assert len(remembered) <= limit


def test_other_bytes_are_noticed_and_the_first_stand() -> None:
    remembered = Remembered(9)
    answers = [remembered.see("a", content) for content in (b"1", b"2", b"1", b"2")]
    assert answers == ["new", "differs", "repeat", "differs"]
