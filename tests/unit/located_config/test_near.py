import pytest

from located_config.near import near_miss, nearest


@pytest.mark.parametrize(
    ("name", "known", "message"),
    [
        ("sise", ["size", "status"], "did you mean 'size'?"),
        ("zzz", ["size", "status"], "there are: size, status"),
        ("zzz", [], "there are: none"),
        ("unknown_while", ["not_found_grace", "unknown"], "did you mean 'not_found_grace'?"),
        ("unknown_while", ["size"], "there are: size"),
    ],
)
def test_near_miss(name: str, known: list[str], message: str) -> None:
    assert near_miss(name, iter(known)) == message


def test_how_much_alike_is_for_the_caller_to_say() -> None:
    assert nearest("abxx", ["abcd"], like=0.5) == "abcd"
    assert nearest("abxx", ["abcd"], like=0.6) is None
