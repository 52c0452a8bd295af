import re
from typing import Any

import pytest

TOKEN = re.compile(r"[0-9a-f]{40}\+\\")


def test_a_visitor_needs_no_secret_but_to_log_in(api: Any) -> None:
    answer = api.query(meta="tokens", type="*")["tokens"]
    assert list(answer) == [
        f"{kind}token" for kind in ("createaccount", "csrf", "login", "patrol", "rollback", "userrights", "watch")
    ]
    secret = {name for name, token in answer.items() if TOKEN.fullmatch(token)}
    assert secret == {"createaccounttoken", "logintoken"}
    assert {answer[name] for name in answer.keys() - secret} == {"+\\"}


@pytest.mark.parametrize(("kind", "begun"), [("csrf", False), ("login", True), ("createaccount", True)])
def test_tokens_to_log_in_begin_a_session(api: Any, kind: str, begun: bool) -> None:
    answer = api.get(action="query", meta="tokens", type=kind)
    assert ("set-cookie" in answer.names) == begun
    assert api.token(kind) == api.token(kind)


def test_tokens_are_told_in_the_order_in_which_they_are_asked_for(admin: Any) -> None:
    answer = admin.query(meta="tokens", type="watch|csrf|bogus")["tokens"]
    assert list(answer) == ["watchtoken", "csrftoken"]
    assert all(TOKEN.fullmatch(token) for token in answer.values())


def test_none_asked_is_an_empty_object(api: Any) -> None:
    assert api.query(meta="tokens", type="")["tokens"] == {}


def test_an_untrusted_client_gets_none(api: Any) -> None:
    answer = api.get(action="query", meta="tokens", origin="*").json
    text = "Tokens may not be obtained when the same-origin policy is not applied."
    assert answer["warnings"] == {"tokens": {"warnings": text}}
    assert "query" not in answer
