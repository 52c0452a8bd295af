"""The faults that put another answer in the place of MediaWiki's."""

import pytest

from mockapi.api.status import reply
from mockapi.faults.error import CODES
from mockapi.plan import StatusAnswer
from tests.unit.mockapi.faults.planned import plan


@pytest.mark.parametrize("code", [*CODES, "internal_api_error_DBQueryError"])
def test_the_last_error_code_is_that_of_the_plan(code: str) -> None:
    assert plan({"error": "readonly"}, {"error": code}).error == code


def test_headers_are_part_of_the_answer() -> None:
    made = plan({"status": {"code": 503, "headers": {"X-Cache": "miss", "Set-Cookie": "a=1; Path=/"}}}).status
    assert made == StatusAnswer(503, headers=(("X-Cache", "miss"), ("Set-Cookie", "a=1; Path=/")))


def proxy_page(page: object) -> StatusAnswer:
    made = plan({"proxy_page": page}).status
    assert made is not None
    return made


@pytest.mark.parametrize("code", [200, 401, 403, 404])
def test_a_page_of_a_proxy_has_none_of_mediawikis_words(code: int) -> None:
    answer = proxy_page(code)
    made = reply(answer, "id")
    headers = dict(made.headers)
    assert (made.status, headers[b"content-type"]) == (code, b"text/html; charset=utf-8")
    assert b"content-revision-id" not in headers
    assert "maintenance" in str(answer.body)
    assert "errorKey" not in str(answer.body)


def test_a_proxy_may_answer_with_an_error_in_json_or_with_nothing() -> None:
    assert proxy_page({"code": 404, "body": "json"}).content_type == "application/json"
    assert proxy_page({"body": "empty"}) == StatusAnswer(200, "", content_type="text/html; charset=utf-8")
