from hypothesis import given
from hypothesis import strategies as st

from mockapi.world import Attempts


@given(st.lists(st.sampled_from("abcd"), max_size=60))
def test_each_key_counts_for_itself(keys: list[str]) -> None:
    attempts = Attempts()
    seen = [attempts.next(key) for key in keys]
    assert seen == [keys[: n + 1].count(key) for n, key in enumerate(keys)]


def test_the_key_not_used_for_longest_is_forgotten_first() -> None:
    attempts = Attempts(limit=2)
    for key in "abac":
        attempts.next(key)
    assert attempts.next("a") == 3
    assert attempts.next("b") == 1
