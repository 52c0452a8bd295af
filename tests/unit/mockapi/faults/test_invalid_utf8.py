from typing import Any

import pytest

from mockapi.server.delivery import HALF, BrokenText, Offset
from tests.unit.mockapi.faults.planned import delivery, problem


@pytest.mark.parametrize(
    ("fault", "broken"),
    [(3, BrokenText(3, HALF)), ({"bytes": 2, "at": "1KiB"}, BrokenText(2, Offset(count=1024)))],
)
def test_so_many_bytes_at_a_place(fault: Any, broken: BrokenText) -> None:
    made = delivery({"invalid_utf8": fault})
    assert made.broken == broken
    assert made.plain


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ({"invalid_utf8": 0}, "greater than or equal to 1"),
        ({"invalid_utf8": {"bytes": 1, "at": "end"}}, "not a place in an answer"),
        ({"invalid_utf8": 1, "body": {"encoding": "br"}}, "a broken document goes out without a coding"),
    ],
)
def test_what_cannot_be_is_refused(do: dict[str, Any], message: str) -> None:
    assert message in problem(do)
