import pytest

from mockapi.api import status as statuses
from mockapi.plan import StatusAnswer
from tests.unit.mockapi.faults.planned import plan, problem


def answer(page: object) -> StatusAnswer:
    made = plan({"proxy_page": page}).status
    assert made is not None
    return made


@pytest.mark.parametrize("code", [200, 401, 403, 404])
def test_it_answers_with_a_page_that_has_none_of_mediawikis_words(code: int) -> None:
    reply = statuses.reply(answer(code), "id")
    headers = dict(reply.headers)
    assert (reply.status, headers[b"content-type"]) == (code, b"text/html; charset=utf-8")
    assert b"content-revision-id" not in headers
    assert answer(code).body is not None
    assert "maintenance" in str(answer(code).body)
    assert "errorKey" not in str(answer(code).body)


def test_it_may_be_an_error_in_json_or_nothing() -> None:
    assert answer({"code": 404, "body": "json"}).content_type == "application/json"
    assert answer({"body": "empty"}) == StatusAnswer(200, "", content_type="text/html; charset=utf-8")


@pytest.mark.parametrize(
    ("do", "what"),
    [
        ({"proxy_page": 500}, "do.proxy_page.code: "),
        ({"proxy_page": {"body": "xml"}}, "do.proxy_page.body: "),
        ({"proxy_page": 200, "status": 404}, "do: status and proxy_page in one rule"),
    ],
)
def test_what_it_is_not(do: dict[str, object], what: str) -> None:
    assert what in problem(do)
