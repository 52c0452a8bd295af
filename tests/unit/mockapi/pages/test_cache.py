from hypothesis import given
from hypothesis import strategies as st

from mockapi.pages.cache import ByteLru


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 60)), max_size=60))
def test_it_never_holds_more_than_it_may(puts: list[tuple[int, int]]) -> None:
    cache: ByteLru[bytes] = ByteLru(100)
    latest: dict[int, bytes] = {}
    for key, size in puts:
        latest[key] = bytes([key]) * size
        cache.put(key, latest[key])
        kept = {name: value for name in latest if (value := cache.get(name)) is not None}
        assert cache.held_bytes == sum(map(len, kept.values())) <= 100
        assert all(latest[name] == value for name, value in kept.items())
        assert key in kept


def test_it_forgets_what_was_not_used_for_longest() -> None:
    cache: ByteLru[bytes] = ByteLru(10)
    cache.put("a", b"aaaa")
    cache.put("b", b"bbbb")
    cache.get("a")
    cache.put("c", b"cccc")
    assert cache.get("b") is None
    assert cache.get("a") == b"aaaa"


def test_what_is_larger_than_the_cache_is_not_kept() -> None:
    cache: ByteLru[bytes] = ByteLru(10)
    cache.put("a", b"a")
    cache.put("b", b"b" * 11)
    assert (cache.get("a"), cache.get("b"), cache.held_bytes) == (b"a", None, 1)
