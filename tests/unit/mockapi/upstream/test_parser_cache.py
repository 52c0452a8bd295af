from mockapi.upstream.parser_cache import ParserCache


def test_what_was_rendered_is_there() -> None:
    cache = ParserCache()
    assert not cache.has("a")
    cache.put("a")
    assert cache.has("a")


def test_what_was_not_used_for_longest_goes_first() -> None:
    cache = ParserCache(limit=2)
    cache.put("a")
    cache.put("b")
    assert cache.has("a")
    cache.put("c")
    assert [cache.has(name) for name in "abc"] == [True, False, True]
