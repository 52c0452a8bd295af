from typing import Any

import pytest

ACCOUNT = {
    "action": "createaccount",
    "username": "robin hood",
    "password": "sherwood forest",
    "retype": "sherwood forest",
    "createreturnurl": "http://example.org/",
}


def create(api: Any, **changed: str) -> Any:
    return api.post(**{**ACCOUNT, **changed}, createtoken=api.token("createaccount")).json["createaccount"]


def test_a_visitor_gets_an_account_and_is_logged_in(api: Any) -> None:
    assert create(api) == {"status": "PASS", "username": "Robin hood"}
    assert api.query(meta="userinfo")["userinfo"] == {"id": 2, "name": "Robin hood"}
    api.another().log_in("Robin hood", "sherwood forest")


def test_who_has_an_account_stays_who_it_is(admin: Any) -> None:
    create(admin)
    assert admin.query(meta="userinfo")["userinfo"]["name"] == "Admin"


@pytest.mark.parametrize(
    ("changed", "code", "message"),
    [
        ({"username": "a|b"}, "invaliduser", "You have not specified a valid username."),
        ({"username": ""}, "invaliduser", "You have not specified a valid username."),
        ({"password": "", "retype": ""}, "passwordtooshort", "Passwords must be at least 1 character."),
    ],
)
def test_or_is_told_why_not(api: Any, changed: dict[str, str], code: str, message: str) -> None:
    answer = create(api, **changed)
    assert answer == {"status": "FAIL", "message": message, "messagecode": code, "canpreservestate": False}
    assert api.query(meta="userinfo")["userinfo"]["id"] == 0
