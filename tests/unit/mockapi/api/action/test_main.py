from typing import Any

import pytest


def test_an_assertion_is_looked_at_before_the_action(api: Any) -> None:
    answer = "You are no longer logged in, so the action could not be completed."
    assert api.get(action="query", **{"assert": "user"}, revids="x").error == ("assertuserfailed", answer)


@pytest.mark.parametrize(
    ("asserted", "code", "info"),
    [
        (
            {"assert": "bot"},
            "assertbotfailed",
            'You do not have the "bot" right, so the action could not be completed.',
        ),
        (
            {"assertuser": "Eve"},
            "assertnameduserfailed",
            'You are no longer logged in as "Eve", so the action could not be completed.',
        ),
    ],
)
def test_what_is_asserted_of_who_asks_is_checked(api: Any, asserted: dict[str, str], code: str, info: str) -> None:
    assert api.get(action="query", **asserted).error == (code, info)


def test_a_true_assertion_changes_nothing(admin: Any) -> None:
    assert admin.get(action="query", **{"assert": "user"}, assertuser="Admin").json == {"batchcomplete": True}
    code, _ = admin.get(action="query", **{"assert": "anon"}).error
    assert code == "assertanonfailed"


def test_what_is_asked_for_beside_the_answer_stands_before_it(api: Any) -> None:
    answer = api.get(
        action="query", requestid='a"b', curtimestamp=1, servedby=1, responselanginfo=1, titles="Old harbour"
    )
    assert list(answer.json) == ["batchcomplete", "requestid", "curtimestamp", "uselang", "errorlang", "query"]
    assert (answer.json["requestid"], answer.json["curtimestamp"]) == ('a"b', "2026-06-01T12:00:00Z")


def test_an_error_has_the_request_id_too(api: Any) -> None:
    assert list(api.get(action="bogus", requestid="7").json) == ["error", "requestid"]


WRITES = [
    "edit",
    "move",
    "delete",
    "undelete",
    "userrights",
    "createaccount",
    "clientlogin",
    "logout",
    "revisiondelete",
]
PREFIXES = {"createaccount": "create", "clientlogin": "login"}
NEEDED = {"to": "x", "title": "x", "type": "revision", "ids": "1", "user": "Admin"}


@pytest.mark.parametrize("action", WRITES)
def test_a_write_needs_a_good_token_in_the_body(api: Any, action: str) -> None:
    name = PREFIXES.get(action, "") + "token"
    assert api.post(action=action, **NEEDED).error == ("missingparam", f'The "{name}" parameter must be set.')
    assert api.post(action=action, **NEEDED, **{name: ""}).error[0] == "missingparam"
    assert api.post(action=action, **NEEDED, **{name: "bad"}).error == ("badtoken", "Invalid CSRF token.")
    in_query = api.ask(f"action={action}&format=json&{name}=x", method="POST", body=b"&".join(
        f"{key}={value}".encode() for key, value in NEEDED.items()
    ))  # fmt: skip
    text = f"The following parameter was found in the query string, but must be in the POST body: {name}."
    assert in_query.error == ("mustpostparams", text)


@pytest.mark.parametrize("action", ["login"])
def test_some_actions_take_only_a_post(api: Any, action: str) -> None:
    assert api.get(action=action).error == ("mustbeposted", f'The "{action}" module requires a POST request.')


def test_a_get_of_a_write_with_a_good_token_in_the_query_is_refused_for_that(admin: Any) -> None:
    assert admin.get(action="edit", title="A", text="x", token=admin.token()).error[0] == "mustpostparams"
    assert admin.world.wikis.by_name("enwiki").page(admin.world.wikis.by_name("enwiki").title("A")) is None


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_other_methods_are_405(api: Any, method: str) -> None:
    answer = api.ask("action=query&format=json", method=method)
    assert answer.status == 405
    assert answer.error == ("invalidmethod", "Invalid HTTP method. Consider using GET or POST.")


def test_a_post_without_a_type_is_told_so(api: Any) -> None:
    warnings = api.ask("action=query&format=json", method="POST", content_type="").json["warnings"]["main"]["*"]
    assert warnings.startswith(
        'A POST request was made without a "Content-Type" header. This does not work reliably.\n'
    )


def test_an_untrusted_client_is_nobody(admin: Any) -> None:
    for more in ({"origin": "*"}, {"callback": "f"}):
        answer = admin.get(action="query", meta="userinfo", **more)
        assert answer["mediawiki-login-suppressed"] == "true"
        assert '"anon":true' in answer.text
    assert '"anon":""' in admin.ask("action=query&meta=userinfo&format=json", treat_as_untrusted="1").text
