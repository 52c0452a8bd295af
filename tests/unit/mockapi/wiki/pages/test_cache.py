from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.pages.store import ENTRY_BYTES, ByteLru


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 60)), max_size=60))
def test_it_never_holds_more_than_it_may(puts: list[tuple[int, int]]) -> None:
    capacity = 100 + 3 * ENTRY_BYTES
    cache: ByteLru[bytes] = ByteLru(capacity)
    latest: dict[int, bytes] = {}
    for key, size in puts:
        latest[key] = bytes([key]) * size
        cache.put(key, latest[key], size)
        kept = {name: value for name in latest if (value := cache.get(name)) is not None}
        assert cache.held_bytes == sum(len(value) + ENTRY_BYTES for value in kept.values()) <= capacity
        assert all(latest[name] == value for name, value in kept.items())
        assert key in kept


def test_it_forgets_what_was_not_used_for_longest() -> None:
    cache: ByteLru[str] = ByteLru(2 * ENTRY_BYTES + 2)
    cache.put("a", "A", 1)
    cache.put("b", "B", 1)
    cache.get("a")
    cache.put("c", "C", 1)
    assert cache.get("b") is None
    assert cache.get("a") == "A"


def test_what_is_larger_than_the_cache_is_not_kept() -> None:
    cache: ByteLru[str] = ByteLru(ENTRY_BYTES + 10)
    cache.put("a", "A", 1)
    cache.put("b", "B", 11)
    assert (cache.get("a"), cache.get("b"), cache.held_bytes) == ("A", None, ENTRY_BYTES + 1)


def test_empty_values_are_bounded_too() -> None:
    cache: ByteLru[bytes] = ByteLru(10 * ENTRY_BYTES)
    for number in range(100):
        cache.put(number, b"", 0)
    assert sum(cache.get(number) is not None for number in range(100)) == 10
