"""MediaWiki's own errors that a rule wants, over both APIs: who gets one, who does not, and what proves it."""

from typing import Any
from urllib.parse import urlencode

import pytest

ROOMS = ("mockapi/api", "mockapi/faults")
REVISION = 28674
EDIT = {"action": "edit", "title": "Harbour", "text": "x", "token": "+\\"}
READ = {"action": "query", "meta": "userinfo"}
HTML = f"revision/{REVISION}/html"
WRITE, STASH = "page", f"{HTML}?stash=true"


REASON = "The database has been automatically locked while the replica database servers catch up to the primary"


def act(mock: Any, parameters: dict[str, Any], **more: str) -> Any:
    form = urlencode({"format": "json", "formatversion": 2, **parameters}).encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Host": "en.wikipedia.org", "X-Request-Id": "id"}
    return mock.ask("/w/api.php", method="POST", headers={**headers, **more}, body=form)


def ask_rest(mock: Any, path: str) -> Any:
    headers = {"Host": "en.wikipedia.org", "Content-Type": "application/json"}
    if path != WRITE:
        return mock.ask(f"/w/rest.php/v1/{path}", headers=headers)
    draft = {"title": "Quay", "source": "x", "comment": "", "token": "+\\"}
    return mock.ask("/w/rest.php/v1/page", method="POST", headers=headers, body=draft)


def want(mock: Any, code: str) -> None:
    mock.rules({"name": "fault", "do": {"error": code}})


def acted(mock: Any) -> bool:
    """Whether the journal shows that the one request since `want` matched the rule, and that the error came of it."""
    (entry,) = mock.journal("?rule=fault")
    assert entry["rules"] == ["fault"]
    return bool(entry["changed_by"] == ["error"])


NO_ANONYMITY = "You are no longer logged out, so the action could not be completed."
DATABASE = "Wikimedia\\Rdbms\\DBQueryError"
CAUGHT = "[id] Caught exception of type"


@pytest.mark.parametrize(
    ("code", "parameters", "info", "more"),
    [
        ("ratelimited", EDIT, "You've exceeded your rate limit. Please wait some time and try again.", {}),
        ("readonly", EDIT, "The wiki is currently in read-only mode.", {"readonlyreason": REASON}),
        ("badtoken", EDIT, "Invalid CSRF token.", {}),
        ("protectedpage", EDIT, "This page has been protected to prevent editing or other actions.", {}),
        ("editconflict", EDIT, "Edit conflict.", {}),
        (
            "maxlag",
            {**READ, "maxlag": 7},
            "Waiting for a database server: 8 seconds lagged.",
            {"host": "", "lag": 8, "type": "db"},
        ),
        ("assertanonfailed", {**READ, "assert": "anon"}, NO_ANONYMITY, {}),
        ("internal_api_error_DBQueryError", READ, f"{CAUGHT} {DATABASE}", {"errorclass": DATABASE}),
        ("internal_api_error_RuntimeException", EDIT, f"{CAUGHT} RuntimeException", {"errorclass": "RuntimeException"}),
    ],
)
def test_the_action_api_refuses_with_status_200(
    mock: Any, code: str, parameters: dict[str, Any], info: str, more: dict[str, Any]
) -> None:
    want(mock, code)
    answer = act(mock, parameters)
    assert (answer.status, answer["mediawiki-api-error"], list(answer.json)) == (200, code, ["error"])
    error = answer.json["error"]
    assert error.pop("docref").startswith("See ")
    assert error == {"code": code, "info": info, **more}
    assert (answer["retry-after"], answer["x-database-lag"]) == (("7", "8") if code == "maxlag" else (None, None))
    assert acted(mock)


AUTOBLOCKED = "Your IP address has been automatically blocked because it was used by another user, who was blocked by "


@pytest.mark.parametrize(
    ("code", "info"),
    [("blocked", "Your username or IP address has been blocked."), ("autoblocked", f"{AUTOBLOCKED}Admin.")],
)
def test_a_block_says_who_made_it_and_for_how_long(mock: Any, code: str, info: str) -> None:
    want(mock, code)
    error = act(mock, EDIT).json["error"]
    assert (error["code"], error["info"]) == (code, info)
    assert (error["blockinfo"]["blockedby"], error["blockinfo"]["blockexpiry"]) == ("Admin", "infinite")
    assert acted(mock)


@pytest.mark.parametrize(
    ("code", "asserted", "name"),
    [("assertuserfailed", {"assert": "user"}, ""), ("assertnameduserfailed", {"assertuser": "Admin"}, ' as "Admin"')],
)
def test_who_is_logged_in_is_so_no_longer(mock: Any, code: str, asserted: dict[str, str], name: str) -> None:
    cookies = log_in(mock)
    assert "error" not in act(mock, {**READ, **asserted}, Cookie=cookies).json
    mock.ask("/__mock/journal", method="DELETE")
    want(mock, code)
    error = act(mock, {**READ, **asserted}, Cookie=cookies).json["error"]
    info = f"You are no longer logged in{name}, so the action could not be completed."
    assert (error["code"], error["info"]) == (code, info)
    assert acted(mock)


def log_in(mock: Any) -> str:
    """The cookies of a session in which Admin is logged in."""
    cookies: dict[str, str] = {}

    def asked(parameters: dict[str, Any]) -> Any:
        sent = "; ".join(f"{name}={value}" for name, value in cookies.items())
        answer = act(mock, parameters, **({"Cookie": sent} if sent else {}))
        for name, value in answer.headers:
            if name == "set-cookie":
                cookies.update([value.partition(";")[0].split("=", 1)])
        return answer.json

    token = asked({"action": "query", "meta": "tokens", "type": "login"})["query"]["tokens"]["logintoken"]
    credentials = {"action": "login", "lgname": "Admin", "lgpassword": "dockerpass", "lgtoken": token}
    assert asked(credentials)["login"]["result"] == "Success"
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


@pytest.mark.parametrize(
    ("code", "parameters"),
    [
        ("ratelimited", READ),
        ("readonly", READ),
        ("maxlag", READ),
        ("badtoken", READ),
        ("blocked", READ),
        ("protectedpage", {"action": "move", "from": "Harbour", "to": "Quay", "token": "+\\"}),
        ("assertuserfailed", READ),
        ("assertanonfailed", {**READ, "assertuser": "Ada"}),
        ("assertnameduserfailed", {**READ, "assert": "anon"}),
    ],
)
def test_who_cannot_get_the_error_is_answered_as_usual(mock: Any, code: str, parameters: dict[str, Any]) -> None:
    mock.rules()
    usual = act(mock, parameters)
    mock.ask("/__mock/journal", method="DELETE")
    want(mock, code)
    answer = act(mock, parameters)
    assert (answer.body, answer["mediawiki-api-error"]) == (usual.body, usual["mediawiki-api-error"])
    assert not acted(mock)


OF_READONLY = {"data": {"readonlyreason": REASON}, "module": "main"}


@pytest.mark.parametrize(
    ("form", "members"),
    [
        ("plaintext", {"code": "readonly", "text": "The wiki is currently in read-only mode.", **OF_READONLY}),
        ("raw", {"code": "readonly", "key": "apierror-readonly", "params": [], **OF_READONLY}),
    ],
)
def test_the_error_has_the_form_that_the_client_wants(mock: Any, form: str, members: dict[str, Any]) -> None:
    want(mock, "readonly")
    answer = act(mock, {**EDIT, "errorformat": form}).json
    assert (list(answer), answer["errors"]) == (["errors", "docref"], [members])


def test_the_older_form_has_its_reference_as_a_text(mock: Any) -> None:
    want(mock, "readonly")
    answer = act(mock, {**EDIT, "formatversion": 1}).json
    assert list(answer) == ["error"]
    assert answer["error"].items() >= {"code": "readonly", "readonlyreason": REASON}.items()
    assert "*" in answer["error"]


TEXTS = {
    "apierror-ratelimited": "You've exceeded your rate limit. Please wait some time and try again.",
    "apierror-readonly": "The wiki is currently in read-only mode.",
    "blockedtext": "Your username or IP address has been blocked.",
    "protectedpagetext": "This page has been protected to prevent editing or other actions.",
    "edit-conflict": "Edit conflict.",
    "rest-badtoken": "The CSRF token provided is invalid.",
    "rest-rate-limit-exceeded": "A rate limit was exceeded. Please try again later.",
}


@pytest.mark.parametrize(
    ("code", "path", "status", "key", "first"),
    [
        ("ratelimited", WRITE, 429, "apierror-ratelimited", {}),
        ("readonly", WRITE, 400, "apierror-readonly", {"actionModuleErrorCode": "readonly"}),
        ("blocked", WRITE, 400, "blockedtext", {"actionModuleErrorCode": "blocked"}),
        ("protectedpage", WRITE, 403, "protectedpagetext", {}),
        ("editconflict", WRITE, 409, "edit-conflict", {}),
        ("badtoken", WRITE, 403, "rest-badtoken", {}),
        ("ratelimited", STASH, 429, "rest-rate-limit-exceeded", {"error-keys": ["actionthrottledtext"]}),
    ],
)
def test_the_rest_api_refuses_with_a_status(
    mock: Any, code: str, path: str, status: int, key: str, first: dict[str, Any]
) -> None:
    want(mock, code)
    answer = ask_rest(mock, path)
    said = answer.json
    assert said.pop("httpReason")
    assert (answer.status, answer["content-type"]) == (status, "application/json")
    assert list(said.items()) == [
        *first.items(),
        ("errorKey", key),
        ("messageTranslations", {"en": TEXTS[key]}),
        ("httpCode", status),
    ]
    assert acted(mock)


@pytest.mark.parametrize("path", [WRITE, HTML, f"revision/{REVISION}/bare", "page/Harbour/html"])
def test_an_exception_ends_any_request_of_the_rest_api(mock: Any, path: str) -> None:
    want(mock, "internal_api_error_DBQueryError")
    answer = ask_rest(mock, path)
    assert (answer.status, answer.json["message"]) == (500, f"Error: exception of type {DATABASE}")
    assert acted(mock)


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ("readonly", HTML),
        ("ratelimited", HTML),
        ("ratelimited", f"revision/{REVISION}/bare?stash=true"),
        ("blocked", STASH),
        ("maxlag", WRITE),
        ("assertuserfailed", WRITE),
    ],
)
def test_the_rest_api_has_no_such_error_there(mock: Any, code: str, path: str) -> None:
    want(mock, code)
    assert ask_rest(mock, path).status in {200, 201}
    assert not acted(mock)


def test_a_gateway_in_front_passes_the_error_on(mock: Any) -> None:
    want(mock, "internal_api_error_DBQueryError")
    answer = mock.ask(f"/api/rest_v1/page/html/X/{REVISION}", headers={"Host": "en.wikipedia.org"})
    assert (answer.status, answer["via"]) == (500, "rest-gateway")
    assert acted(mock)


def test_a_proxy_answers_before_the_wiki_refuses(mock: Any) -> None:
    mock.rules({"name": "fault", "do": {"error": "readonly"}}, {"name": "down", "do": {"status": 503}})
    assert act(mock, EDIT).status == 503
    (entry,) = mock.journal("?rule=fault")
    assert (entry["rules"], entry["changed_by"]) == (["fault", "down"], [])


def test_the_counts_of_the_rule_show_that_it_acted(mock: Any) -> None:
    want(mock, "readonly")
    act(mock, EDIT)
    act(mock, READ)
    counted = mock.counts()["rules"]["fault"]
    assert (counted["requests"], counted["changed_by"]) == (2, {"error": 1})
