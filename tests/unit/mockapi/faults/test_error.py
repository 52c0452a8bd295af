from typing import Any

import pytest

from mockapi.faults.error import CODES
from tests.unit.mockapi.faults.planned import plan, problem


@pytest.mark.parametrize("code", [*CODES, "internal_api_error_DBQueryError"])
def test_the_last_code_is_that_of_the_plan(code: str) -> None:
    assert plan({"error": "readonly"}, {"error": code}).error == code


@pytest.mark.parametrize(
    ("do", "what"),
    [
        ({"error": "ratelimit"}, "did you mean 'ratelimited'?"),
        ({"error": "internal_api_error_"}, "did you mean 'internal_api_error_DBQueryError'?"),
        ({"error": "internal_api_error_a b"}, "no error 'internal_api_error_a b' of MediaWiki"),
        ({"error": "missingtitle"}, "there are: ratelimited, readonly, maxlag"),
        ({"error": "readonly", "status": 503}, "a request has one answer"),
    ],
)
def test_errors_that_are_refused(do: dict[str, Any], what: str) -> None:
    assert what in problem(do)
