from typing import Any

import pytest

from mockapi.server.delivery import Length
from tests.unit.mockapi.faults.planned import delivery, problem


@pytest.mark.parametrize(
    ("fault", "length"),
    [
        ("compressed", Length("compressed")),
        ("negative", Length("negative")),
        ({"off_by": 10}, Length("off by", 10)),
        ({"off_by": -10}, Length("off by", -10)),
    ],
)
def test_what_the_header_says(fault: Any, length: Length) -> None:
    assert delivery({"content_length": fault}).length == length


def test_the_last_rule_decides() -> None:
    assert delivery({"content_length": "absent"}, {"content_length": "decoded"}).length == Length("decoded")


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ({"content_length": {}}, "not a wrong length"),
        ({"content_length": {"off_by": 0}}, "not a wrong length"),
        ({"content_length": {"says": "absent", "off_by": 1}}, "not a wrong length"),
        ({"content_length": "long"}, "do.content_length.says: must be 'compressed', "),
        ({"content_length": "compressed", "body": {"encoding": "br"}}, "`compressed` means that the body is plain"),
        ({"content_length": "absent", "malformed_chunk": {}}, "a chunked body has no Content-Length"),
    ],
)
def test_what_cannot_be_is_refused(do: dict[str, Any], message: str) -> None:
    assert message in problem(do)
