import pytest

from mockapi.wiki.accounts import (
    ANONYMOUS_TOKEN,
    GROUPS,
    MAX_SESSIONS,
    ROOT_NAME,
    ROOT_PASSWORD,
    TOKEN_KINDS,
    AccountError,
    Accounts,
    TokenKind,
    canonical_name,
    rights_of,
)


@pytest.fixture
def accounts() -> Accounts:
    return Accounts(1)


def test_the_administrator_is_there_from_the_start(accounts: Accounts) -> None:
    root = accounts.user(ROOT_NAME)
    assert root is not None
    assert root.id == 1
    assert accounts.groups_of(root) == ("bureaucrat", "interface-admin", "sysop", "*", "user", "autoconfirmed")
    assert all(accounts.may(root, right) for right in ("userrights", "delete", "deleterevision", "edit"))
    assert len(set(accounts.rights_of(root))) == len(accounts.rights_of(root))


def test_somebody_who_logs_in_is_known_by_the_cookie(accounts: Accounts) -> None:
    visitor = accounts.begin()
    session = accounts.login(visitor, "admin", ROOT_PASSWORD)
    assert accounts.user_of(session) == accounts.user(ROOT_NAME)
    assert accounts.session(session.id) == session
    assert accounts.session(visitor.id) is None
    accounts.logout(session)
    assert accounts.session(session.id) is None
    assert accounts.user_of(accounts.session(session.id)) is None


@pytest.mark.parametrize(
    ("name", "password"),
    [(ROOT_NAME, "wrong"), ("Nobody", ROOT_PASSWORD), ("a#b", "x"), ("", ""), (ROOT_NAME, "\udc80")],
)
def test_a_wrong_name_or_password_is_refused_alike(accounts: Accounts, name: str, password: str) -> None:
    session = accounts.begin()
    with pytest.raises(AccountError) as refused:
        accounts.login(session, name, password)
    assert refused.value.code == "wrongpassword"
    assert accounts.session(session.id) == session


def test_an_account_is_made_once(accounts: Accounts) -> None:
    made = accounts.create("some_body", "secret", retype="secret")
    assert (made.id, made.name, made.groups) == (2, "Some body", ())
    assert accounts.user_of(accounts.login(None, "Some body", "secret")) == made
    assert accounts.groups_of(made) == ("*", "user", "autoconfirmed")
    assert not accounts.may(made, "delete")
    with pytest.raises(AccountError) as refused:
        accounts.create("Some body", "x")
    assert refused.value.code == "userexists"
    assert accounts.create("Other", "x").id == 3


@pytest.mark.parametrize(
    ("name", "password", "retype", "code"),
    [("Other", "x", "y", "badretype"), ("Other", "", None, "passwordtooshort"), ("192.0.2.1", "x", None, "noname")],
)
def test_an_account_that_cannot_be_is_refused(
    accounts: Accounts, name: str, password: str, retype: str | None, code: str
) -> None:
    with pytest.raises(AccountError) as refused:
        accounts.create(name, password, retype=retype)
    assert refused.value.code == code
    assert accounts.create("Other", "x").id == 2


@pytest.mark.parametrize("name", ["", "#", "a/b", "a@b", "a:b", "a|b", "2001:db8::1", "a#b", "a" * 300])
def test_what_cannot_be_a_name(name: str) -> None:
    with pytest.raises(AccountError, match="valid username"):
        canonical_name(name)


def test_everybody_may_read_and_edit(accounts: Accounts) -> None:
    assert accounts.groups_of(None) == ("*",)
    assert [right for right in ("read", "edit", "move") if accounts.may(None, right)] == ["read", "edit"]


@pytest.mark.parametrize("kind", TOKEN_KINDS)
def test_a_token_is_good_for_its_session_and_kind(accounts: Accounts, kind: TokenKind) -> None:
    mine, other = (accounts.login(None, ROOT_NAME, ROOT_PASSWORD) for _ in range(2))
    token = accounts.token(kind, mine)
    assert len(token) == 42
    assert token.endswith(ANONYMOUS_TOKEN)
    assert not accounts.accepts(kind, other, token)
    assert not accounts.accepts(kind, mine, ANONYMOUS_TOKEN)
    assert not accounts.accepts(kind, mine, "é\udc80")
    assert {other_kind for other_kind in TOKEN_KINDS if accounts.accepts(other_kind, mine, token)} == {kind}


def test_without_an_account_tokens_are_public_but_those_to_get_in(accounts: Accounts) -> None:
    visitor = accounts.begin()
    assert accounts.token("csrf", visitor) == accounts.token("csrf", None) == ANONYMOUS_TOKEN
    assert accounts.accepts("csrf", None, ANONYMOUS_TOKEN)
    assert accounts.token("login", visitor) != ANONYMOUS_TOKEN
    assert accounts.accepts("login", visitor, accounts.token("login", visitor))
    assert not accounts.accepts("login", None, ANONYMOUS_TOKEN)


def test_a_user_is_put_into_groups(accounts: Accounts) -> None:
    accounts.create("Mindy", "x")
    mindy, added = accounts.add_groups("mindy", ["sysop", "sysop", "nosuch", "*"])
    assert (added, mindy.groups) == (("sysop",), ("sysop",))
    mindy, added = accounts.add_groups("Mindy", ["sysop", "bot"])
    assert (added, mindy.groups) == (("bot",), ("bot", "sysop"))
    assert accounts.user("Mindy") == mindy
    with pytest.raises(AccountError) as refused:
        accounts.add_groups("Nobody", ["bot"])
    assert refused.value.code == "nosuchuser"


def test_sessions_follow_from_the_seed() -> None:
    one, same, other = (Accounts(seed).begin().id for seed in (1, 1, 2))
    assert one == same != other


def test_there_are_only_so_many_sessions(accounts: Accounts) -> None:
    first = accounts.begin()
    for _ in range(MAX_SESSIONS):
        last = accounts.begin()
    assert accounts.session(first.id) is None
    assert accounts.session(last.id) == last


def test_rights_are_those_of_known_groups() -> None:
    assert {"read", "move"} <= set(rights_of(("*", "user")))
    assert rights_of(("nosuch",)) == ()
    assert "sysop" in GROUPS
    assert not {"*", "user", "autoconfirmed"} & set(GROUPS)
