from typing import Any

import pytest

WRONG = {"result": "Failed", "reason": "Incorrect username or password entered. Please try again."}
LOST = {"result": "Failed", "reason": "Unable to continue login. Your session most likely timed out."}


def login(api: Any, **parameters: str) -> Any:
    return api.post(action="login", **parameters).json["login"]


def test_a_login_ends_the_session_and_begins_the_users(api: Any) -> None:
    token = api.token("login")
    before = api.cookies["enwiki_session"]
    answer = api.post(action="login", lgname="admin", lgpassword="dockerpass", lgtoken=token)
    assert answer.json["login"] == {"result": "Success", "lguserid": 1, "lgusername": "Admin"}
    assert api.cookies["enwiki_session"] != before
    cookies = [value for name, value in answer.headers if name == "set-cookie"]
    assert [cookie.partition("=")[0] for cookie in cookies] == [
        "enwiki_session",
        "enwikiUserID",
        "enwikiUserName",
        "enwikiToken",
    ]
    assert cookies[1] == "enwikiUserID=1; expires=Sat, 28 Nov 2026 12:00:00 GMT; Max-Age=15552000; path=/; HttpOnly"
    assert api.query(meta="userinfo")["userinfo"] == {"id": 1, "name": "Admin"}


@pytest.mark.parametrize("name", ["Admin", "Nobody", "", "<"])
def test_what_is_wrong_is_not_told_apart(api: Any, name: str) -> None:
    assert login(api, lgname=name, lgpassword="x", lgtoken=api.token("login")) == WRONG


def test_a_token_of_another_session_is_wrong(api: Any) -> None:
    token = api.another().token("login")
    api.token("login")
    assert login(api, lgname="Admin", lgpassword="dockerpass", lgtoken=token) == {"result": "WrongToken"}


def test_without_a_session_the_login_is_lost(api: Any) -> None:
    assert login(api.another(), lgname="Admin", lgpassword="dockerpass", lgtoken="x") == LOST


def test_without_a_token_one_is_given(api: Any) -> None:
    answer = login(api, lgname="Admin", lgpassword="dockerpass")
    assert answer["result"] == "NeedToken"
    assert login(api, lgname="Admin", lgpassword="dockerpass", lgtoken=answer["token"])["result"] == "Success"


def test_the_token_is_spent_by_a_login(api: Any) -> None:
    token = api.token("login")
    login(api, lgname="Admin", lgpassword="dockerpass", lgtoken=token)
    assert login(api, lgname="Admin", lgpassword="dockerpass", lgtoken=token) == LOST


def test_secrets_belong_into_the_body(api: Any) -> None:
    text = "The following parameters were found in the query string, but must be in the POST body: lgpassword, lgtoken."
    answer = api.ask("action=login&format=json&lgpassword=x&lgtoken=y", method="POST")
    assert answer.error == ("mustpostparams", text)


def test_a_logout_ends_the_session(admin: Any) -> None:
    session = admin.cookies["enwiki_session"]
    answer = admin.post(action="logout", token=admin.token())
    assert answer.json == {}
    assert [value.partition(";")[0] for name, value in answer.headers if name == "set-cookie"] == [
        "enwiki_session=deleted",
        "enwikiUserID=deleted",
        "enwikiToken=deleted",
    ]
    admin.cookies["enwiki_session"] = session
    assert admin.query(meta="userinfo")["userinfo"]["anon"] is True


def test_wikis_have_their_own_sessions(make_api: Any, make_page: Any) -> None:
    api = make_api(make_page(1, "Hafen", "x", wiki="dewiki")).log_in()
    answer = api.ask("action=query&meta=userinfo&format=json", host="de.wikipedia.org").json
    assert answer["query"]["userinfo"]["id"] == 0
