from typing import Any

import pytest

LOGIN = {
    "action": "clientlogin",
    "username": "Admin",
    "password": "dockerpass",
    "loginreturnurl": "http://example.org/",
}


def test_a_person_logs_in(api: Any) -> None:
    answer = api.post(**LOGIN, logintoken=api.token("login"))
    assert answer.json == {"clientlogin": {"status": "PASS", "username": "Admin"}}
    assert "enwikiToken" not in api.cookies
    assert api.query(meta="userinfo")["userinfo"]["id"] == 1


@pytest.mark.parametrize(
    ("changed", "code", "message"),
    [
        ({"password": ""}, "authmanager-authn-no-primary", "The supplied credentials could not be authenticated."),
        ({"username": ""}, "authmanager-authn-no-primary", "The supplied credentials could not be authenticated."),
    ],
)
def test_or_is_told_why_not(api: Any, changed: dict[str, str], code: str, message: str) -> None:
    answer = api.post(**{**LOGIN, **changed}, logintoken=api.token("login")).json["clientlogin"]
    assert answer == {"status": "FAIL", "message": message, "messagecode": code, "canpreservestate": False}


def test_it_has_to_be_said_where_to_come_back_to(api: Any) -> None:
    answer = api.post(action="clientlogin", username="Admin", password="x", logintoken=api.token("login"))
    text = 'At least one of the parameters "logincontinue" and "loginreturnurl" is required.'
    assert answer.error == ("missingparam", text)


def test_a_client_without_a_session_gets_one_with_the_refusal(api: Any) -> None:
    answer = api.post(**LOGIN, logintoken="x")
    assert answer.error == ("badtoken", "Invalid CSRF token.")
    assert "enwiki_session" in api.cookies
