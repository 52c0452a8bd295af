import pytest

from tests.unit.mockapi.faults.planned import delivery, problem


@pytest.mark.parametrize(("says", "parameter"), [("iso-8859-1", "iso-8859-1"), ("none", "")])
def test_the_header_says_so(says: str, parameter: str) -> None:
    assert delivery({"charset": says}).charset == parameter


def test_a_charset_is_one_word() -> None:
    assert problem({"charset": "a; b"}).startswith("do.charset.says: ")
