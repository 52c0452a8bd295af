import pytest

from tests.unit.mockapi.faults.planned import delivery, problem


@pytest.mark.parametrize(("says", "header"), [("gzip", "gzip"), ("x-own", "x-own"), ("identity", "")])
def test_the_header_says_so(says: str, header: str) -> None:
    assert delivery({"content_encoding": says}).coding == header


def test_a_header_is_one_word() -> None:
    assert problem({"content_encoding": "gz\r\nx: y"}).startswith("do.content_encoding.says: ")
