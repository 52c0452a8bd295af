import pytest

from mockapi.plan import StatusAnswer
from tests.unit.mockapi.faults.planned import plan, problem


def test_headers_are_part_of_the_answer() -> None:
    made = plan({"status": {"code": 503, "headers": {"X-Cache": "miss", "Set-Cookie": "a=1; Path=/"}}}).status
    assert made == StatusAnswer(503, headers=(("X-Cache", "miss"), ("Set-Cookie", "a=1; Path=/")))


@pytest.mark.parametrize(
    ("status", "what"),
    [
        ({"headers": {}}, "do.status.headers"),
        ({"headers": {"X Y": "1"}}, "do.status.headers.X Y"),
        ({"headers": {"X-A": "a\r\nX-B: b"}}, "do.status.headers.X-A"),
        ({"headers": {"Content-Length": "1"}}, "the fault content_length"),
        ({"headers": {"content-encoding": "br"}}, "the fault content_encoding"),
        ({"headers": {"X-A": "1", "x-a": "2"}}, "two headers x-a"),
        ({"headers": {"Retry-After": "1"}, "retry_after": "5s"}, "retry_after and a header Retry-After"),
    ],
)
def test_headers_that_are_refused(status: dict[str, object], what: str) -> None:
    assert what in problem({"status": {"code": 503, **status}})
