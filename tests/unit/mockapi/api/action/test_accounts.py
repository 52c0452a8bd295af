"""To log in, to get an account and to be put into groups."""

from typing import Any

import pytest

WRONG = {"result": "Failed", "reason": "Incorrect username or password entered. Please try again."}
LOST = {"result": "Failed", "reason": "Unable to continue login. Your session most likely timed out."}
ADMIN = {"lgname": "Admin", "lgpassword": "dockerpass"}


def login(api: Any, **parameters: str) -> Any:
    return api.post(action="login", **parameters).json["login"]


def cookies_of(answer: Any) -> list[str]:
    return [value for name, value in answer.headers if name == "set-cookie"]


def user(api: Any) -> Any:
    return api.query(meta="userinfo")["userinfo"]


def test_a_login_ends_the_session_and_begins_the_users(api: Any) -> None:
    token = api.token("login")
    before = api.cookies["enwiki_session"]
    answer = api.post(action="login", lgname="admin", lgpassword="dockerpass", lgtoken=token)
    assert answer.json["login"] == {"result": "Success", "lguserid": 1, "lgusername": "Admin"}
    assert api.cookies["enwiki_session"] != before
    cookies = cookies_of(answer)
    names = ["enwiki_session", "enwikiUserID", "enwikiUserName", "enwikiToken"]
    assert [cookie.partition("=")[0] for cookie in cookies] == names
    assert cookies[1] == "enwikiUserID=1; expires=Sat, 28 Nov 2026 12:00:00 GMT; Max-Age=15552000; path=/; HttpOnly"
    assert user(api) == {"id": 1, "name": "Admin"}


@pytest.mark.parametrize("name", ["Admin", "Nobody", "", "<"])
def test_what_is_wrong_is_not_told_apart(api: Any, name: str) -> None:
    assert login(api, lgname=name, lgpassword="x", lgtoken=api.token("login")) == WRONG


def test_a_token_is_given_is_of_its_session_and_spent_by_a_login(api: Any) -> None:
    of_another = api.another().token("login")
    answer = login(api, **ADMIN)
    assert answer["result"] == "NeedToken"
    assert login(api, **ADMIN, lgtoken=of_another) == {"result": "WrongToken"}
    assert login(api, **ADMIN, lgtoken=answer["token"])["result"] == "Success"
    assert login(api, **ADMIN, lgtoken=answer["token"]) == LOST
    assert login(api.another(), **ADMIN, lgtoken="x") == LOST, "without a session"


def test_secrets_belong_into_the_body(api: Any) -> None:
    text = "The following parameters were found in the query string, but must be in the POST body: lgpassword, lgtoken."
    answer = api.ask("action=login&format=json&lgpassword=x&lgtoken=y", method="POST")
    assert answer.error == ("mustpostparams", text)


def test_a_logout_ends_the_session(admin: Any) -> None:
    session = admin.cookies["enwiki_session"]
    answer = admin.post(action="logout", token=admin.token())
    assert answer.json == {}
    ended = [f"{name}=deleted" for name in ("enwiki_session", "enwikiUserID", "enwikiToken")]
    assert [value.partition(";")[0] for value in cookies_of(answer)] == ended
    admin.cookies["enwiki_session"] = session
    assert user(admin)["anon"] is True


def test_wikis_have_their_own_sessions(make_api: Any, make_page: Any) -> None:
    api = make_api(make_page(1, "Hafen", "x", wiki="dewiki")).log_in()
    answer = api.ask("action=query&meta=userinfo&format=json", host="de.wikipedia.org").json
    assert answer["query"]["userinfo"]["id"] == 0


LOGIN = {"action": "clientlogin", "username": "Admin", "password": "dockerpass", "loginreturnurl": "http://example.org"}
ACCOUNT = {
    "action": "createaccount",
    "username": "robin hood",
    "password": "sherwood forest",
    "retype": "sherwood forest",
    "createreturnurl": "http://example.org/",
}


def test_a_person_logs_in(api: Any) -> None:
    answer = api.post(**LOGIN, logintoken=api.token("login"))
    assert answer.json == {"clientlogin": {"status": "PASS", "username": "Admin"}}
    assert "enwikiToken" not in api.cookies
    assert user(api)["id"] == 1


def test_it_has_to_be_said_where_to_come_back_to(api: Any) -> None:
    answer = api.post(action="clientlogin", username="Admin", password="x", logintoken=api.token("login"))
    text = 'At least one of the parameters "logincontinue" and "loginreturnurl" is required.'
    assert answer.error == ("missingparam", text)


def test_a_client_without_a_session_gets_one_with_the_refusal(api: Any) -> None:
    answer = api.post(**LOGIN, logintoken="x")
    assert answer.error == ("badtoken", "Invalid CSRF token.")
    assert "enwiki_session" in api.cookies


def test_a_visitor_gets_an_account_and_is_logged_in(api: Any) -> None:
    answer = api.post(**ACCOUNT, createtoken=api.token("createaccount")).json["createaccount"]
    assert answer == {"status": "PASS", "username": "Robin hood"}
    assert user(api) == {"id": 2, "name": "Robin hood"}
    api.another().log_in("Robin hood", "sherwood forest")


def test_who_has_an_account_stays_logged_in_with_it(admin: Any) -> None:
    admin.post(**ACCOUNT, createtoken=admin.token("createaccount"))
    assert user(admin)["name"] == "Admin"


NO_PRIMARY = ("authmanager-authn-no-primary", "The supplied credentials could not be authenticated.")
NO_NAME = ("invaliduser", "You have not specified a valid username.")
TOO_SHORT = ("passwordtooshort", "Passwords must be at least 1 character.")


@pytest.mark.parametrize(
    ("parameters", "token", "reason"),
    [
        ({**LOGIN, "password": ""}, "login", NO_PRIMARY),
        ({**LOGIN, "username": ""}, "login", NO_PRIMARY),
        ({**ACCOUNT, "username": "a|b"}, "create", NO_NAME),
        ({**ACCOUNT, "username": ""}, "create", NO_NAME),
        ({**ACCOUNT, "password": "", "retype": ""}, "create", TOO_SHORT),
    ],
)
def test_a_failure_is_told_with_its_reason(
    api: Any, parameters: dict[str, str], token: str, reason: tuple[str, str]
) -> None:
    kind = {"login": "login", "create": "createaccount"}[token]
    answer = api.post(**parameters, **{f"{token}token": api.token(kind)}).json[parameters["action"]]
    code, message = reason
    assert answer == {"status": "FAIL", "message": message, "messagecode": code, "canpreservestate": False}
    assert user(api)["id"] == 0


@pytest.fixture
def robin(admin: Any) -> Any:
    """The administrator's client, on a wiki with a user Robin."""
    admin.world.accounts(admin.world.wikis.by_name("enwiki")).create("Robin", "sherwood")
    return admin


def groups_of_robin(api: Any) -> tuple[str, ...]:
    groups: tuple[str, ...] = api.world.accounts(api.world.wikis.by_name("enwiki")).user("Robin").groups
    return groups


def change(api: Any, **parameters: Any) -> Any:
    return api.post(action="userrights", token=api.token("userrights"), **parameters)


def test_groups_are_added(robin: Any) -> None:
    answer = change(robin, user="robin", add="sysop|bot").json["userrights"]
    assert answer == {"user": "Robin", "userid": 2, "added": ["sysop", "bot"], "removed": [], "watchuser": False}
    assert change(robin, user="Robin", add="sysop").json["userrights"]["added"] == []


@pytest.mark.parametrize("parameter", ["remove", "expiry", "userid"])
def test_what_is_not_implemented_of_groups_is_an_error(robin: Any, parameter: str) -> None:
    assert change(robin, user="Robin", add="sysop", **{parameter: "2"}).error[0] == "mock-not-implemented"
    assert groups_of_robin(robin) == ()


def test_an_unknown_group_is_a_warning_and_an_unknown_user_an_error(robin: Any) -> None:
    answer = change(robin, user="Robin", add="sysop|pirates").json
    assert answer["warnings"]["userrights"]["warnings"] == 'Unrecognized value for parameter "add": pirates'
    assert answer["userrights"]["added"] == ["sysop"]
    info = 'There is no user by the name "Nobody". Check your spelling.'
    assert change(robin, user="Nobody", add="sysop").error == ("nosuchuser", info)


def test_who_may_not_add_groups_changes_nothing(robin: Any) -> None:
    asked = {"action": "userrights", "user": "Robin", "add": "sysop"}
    answer = robin.another().post(**asked, token="+\\").json["userrights"]
    assert (answer["added"], answer["removed"]) == ([], [])
    assert robin.post(**asked, token=robin.token()).error[0] == "badtoken", "the token is one of its own"
    assert groups_of_robin(robin) == ()
