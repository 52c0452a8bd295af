"""MediaWiki's own errors that a rule wants, over both APIs: who gets one, who does not, and what proves it."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

REVISION = 28674
EDIT = {"action": "edit", "title": "Harbour", "text": "x", "token": "+\\"}
READ = {"action": "query", "meta": "userinfo"}
HTML = f"revision/{REVISION}/html"
WRITE = "page"


class Refused(NamedTuple):
    info: str
    more: Mapping[str, Any] = MappingProxyType({})
    headers: Mapping[str, str] = MappingProxyType({})


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


@pytest.mark.parametrize(
    ("code", "parameters", "refused"),
    [
        ("ratelimited", EDIT, Refused("You've exceeded your rate limit. Please wait some time and try again.")),
        ("readonly", EDIT, Refused("The wiki is currently in read-only mode.", {"readonlyreason": REASON})),
        ("badtoken", EDIT, Refused("Invalid CSRF token.")),
        ("protectedpage", EDIT, Refused("This page has been protected to prevent editing or other actions.")),
        ("editconflict", EDIT, Refused("Edit conflict.")),
        (
            "maxlag",
            {**READ, "maxlag": 7},
            Refused(
                "Waiting for a database server: 8 seconds lagged.",
                {"host": "", "lag": 8, "type": "db"},
                {"retry-after": "7", "x-database-lag": "8"},
            ),
        ),
        (
            "assertanonfailed",
            {**READ, "assert": "anon"},
            Refused("You are no longer logged out, so the action could not be completed."),
        ),
        (
            "internal_api_error_DBQueryError",
            READ,
            Refused(
                "[id] Caught exception of type Wikimedia\\Rdbms\\DBQueryError",
                {"errorclass": "Wikimedia\\Rdbms\\DBQueryError"},
            ),
        ),
        (
            "internal_api_error_RuntimeException",
            EDIT,
            Refused("[id] Caught exception of type RuntimeException", {"errorclass": "RuntimeException"}),
        ),
    ],
)
def test_the_action_api_refuses_with_status_200(
    mock: Any, code: str, parameters: dict[str, Any], refused: Refused
) -> None:
    want(mock, code)
    answer = act(mock, parameters)
    assert (answer.status, answer["mediawiki-api-error"], list(answer.json)) == (200, code, ["error"])
    error = answer.json["error"]
    assert error.pop("docref").startswith("See ")
    assert error == {"code": code, "info": refused.info, **refused.more}
    assert {name: answer[name] for name in refused.headers} == refused.headers
    assert acted(mock)


@pytest.mark.parametrize(
    ("code", "info"),
    [
        ("blocked", "Your username or IP address has been blocked."),
        (
            "autoblocked",
            "Your IP address has been automatically blocked because it was used by another user, "
            "who was blocked by Admin.",
        ),
    ],
)
def test_a_block_says_who_made_it_and_for_how_long(mock: Any, code: str, info: str) -> None:
    want(mock, code)
    error = act(mock, EDIT).json["error"]
    assert (error["code"], error["info"]) == (code, info)
    assert (error["blockinfo"]["blockedby"], error["blockinfo"]["blockexpiry"]) == ("Admin", "infinite")
    assert acted(mock)


@pytest.mark.parametrize(
    ("code", "asserted", "info"),
    [
        (
            "assertuserfailed",
            {"assert": "user"},
            "You are no longer logged in, so the action could not be completed.",
        ),
        (
            "assertnameduserfailed",
            {"assertuser": "Admin"},
            'You are no longer logged in as "Admin", so the action could not be completed.',
        ),
    ],
)
def test_who_is_logged_in_is_so_no_longer(mock: Any, code: str, asserted: dict[str, str], info: str) -> None:
    cookies = log_in(mock)
    assert "error" not in act(mock, {**READ, **asserted}, Cookie=cookies).json
    mock.ask("/__mock/journal", method="DELETE")
    want(mock, code)
    error = act(mock, {**READ, **asserted}, Cookie=cookies).json["error"]
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


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"formatversion": 1}, {"error": {"code": "readonly", "readonlyreason": REASON}}),
        (
            {"errorformat": "plaintext"},
            {
                "errors": [
                    {
                        "code": "readonly",
                        "text": "The wiki is currently in read-only mode.",
                        "data": {"readonlyreason": REASON},
                        "module": "main",
                    }
                ]
            },
        ),
        (
            {"errorformat": "raw"},
            {
                "errors": [
                    {
                        "code": "readonly",
                        "key": "apierror-readonly",
                        "params": [],
                        "data": {"readonlyreason": REASON},
                        "module": "main",
                    }
                ]
            },
        ),
    ],
    ids=["formatversion 1", "plain text", "raw"],
)
def test_the_error_has_the_form_that_the_client_wants(
    mock: Any, parameters: dict[str, Any], expected: dict[str, Any]
) -> None:
    want(mock, "readonly")
    said = act(mock, {**EDIT, **parameters}).json
    assert [*said] == [*expected, *([] if "error" in expected else ["docref"])]
    if "errors" in expected:
        assert said["errors"] == expected["errors"]
    else:
        assert said["error"].items() >= expected["error"].items()
        assert "*" in said["error"]


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
        (
            "ratelimited",
            f"{HTML}?stash=true",
            429,
            "rest-rate-limit-exceeded",
            {"error-keys": ["actionthrottledtext"]},
        ),
    ],
)
def test_the_rest_api_refuses_with_a_status(
    mock: Any, code: str, path: str, status: int, key: str, first: dict[str, Any]
) -> None:
    want(mock, code)
    answer = ask_rest(mock, path)
    said = answer.json
    reason = said.pop("httpReason")
    assert reason
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
    assert (answer.status, answer.json["message"]) == (
        500,
        "Error: exception of type Wikimedia\\Rdbms\\DBQueryError",
    )
    assert acted(mock)


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ("readonly", HTML),
        ("ratelimited", HTML),
        ("ratelimited", f"revision/{REVISION}/bare?stash=true"),
        ("blocked", f"{HTML}?stash=true"),
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
    counted = json.loads(mock.ask("/__mock/journal/counts").body)["rules"]["fault"]
    assert (counted["requests"], counted["changed_by"]) == (2, {"error": 1})
