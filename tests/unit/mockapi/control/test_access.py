import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.control.access import LOOPBACK, Access, host_name, may_control

WIKI = "en.wikipedia.org"
NETWORKS = (ipaddress.ip_network("172.16.0.0/12"), ipaddress.ip_network("fd00::/16"))


def status(
    access: Access = LOOPBACK, client: str = "127.0.0.1", *, open_page: bool = False, **headers: str
) -> int | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    denial = access.denial(client, named, ours=lambda host: host == WIKI, open_page=open_page)
    return None if denial is None else denial.status


OWN = ("127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1")
ALLOWED = ("172.17.0.1", "::ffff:172.17.0.1", "fd00::5")
STRANGERS = ("10.0.0.1", "::ffff:10.0.0.1", "172.32.0.1", "fd01::5", "localhost", "")


@pytest.mark.parametrize("address", [*OWN, *ALLOWED, *STRANGERS])
def test_the_own_machine_may_control_and_networks_that_are_allowed(address: str) -> None:
    assert may_control(address) is (address in OWN)
    assert may_control(address, NETWORKS) is (address in (*OWN, *ALLOWED))
    assert status(client=address) == (None if address in OWN else 403)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8080", "127.0.0.1", "[::1]:8080", "[::1]", "localhost:80", "app.localhost", "mock-api:8080", "", WIKI],
)
def test_a_name_that_no_stranger_can_have_is_let_in(host: str) -> None:
    assert status(host=host) is None


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example"]
)
def test_a_name_that_was_made_to_lead_here_is_not(host: str) -> None:
    """DNS rebinding: the browser believes that the mock is its page's own site, so it sends no foreign Origin."""
    assert status(host=host) == 403
    assert status(host=host, origin=f"http://{host}") == 403
    assert status(Access(token="t"), host=host) == 403
    assert status(Access(token="t"), host=host, authorization="Bearer t") is None


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("http://127.0.0.1:8080", True),
        ("https://127.0.0.1:8080", True),
        ("http://127.0.0.1:3000", False),
        ("https://evil.example", False),
        ("null", False),
    ],
)
def test_only_a_page_from_here_may_ask(origin: str, allowed: bool) -> None:
    assert (status(host="127.0.0.1:8080", origin=origin) is None) is allowed


def test_with_a_token_everybody_needs_it_and_nothing_else() -> None:
    access = Access(token="secret")
    assert status(access) == 401
    assert status(access, open_page=True) is None
    for client in ("127.0.0.1", "192.0.2.1"):
        assert status(access, client, authorization="Bearer secret") is None
        assert status(access, client, authorization="bearer  secret ") is None


def test_networks_narrow_a_token() -> None:
    access = Access(NETWORKS, "secret")
    assert status(access, "192.0.2.1", authorization="Bearer secret") == 403
    assert status(access, "172.17.0.1", authorization="Bearer secret") is None
    assert status(access, "172.17.0.1") == 401


@given(st.text(max_size=20))
def test_no_other_text_is_the_token(shown: str) -> None:
    expected = None if shown.strip() == "secret" else 401
    assert status(Access(token="secret"), authorization=f"Bearer {shown}") == expected


@pytest.mark.parametrize(
    "shown", ["Basic secret", "secret", "Bearer", "Bearer secre", "Bearer secret2", "Bearer sécret"]
)
def test_what_is_nearly_the_token_is_not(shown: str) -> None:
    assert status(Access(token="secret"), authorization=shown) == 401


def test_without_a_token_a_header_changes_nothing() -> None:
    assert status(authorization="Bearer anything") is None
    assert status(host="evil.example", authorization="Bearer ") == 403


@pytest.mark.parametrize(
    ("host", "name"), [("A.example:80", "a.example"), ("[::1]:80", "::1"), ("::1", "::1"), ("a", "a"), ("", "")]
)
def test_the_name_of_a_host(host: str, name: str) -> None:
    assert host_name(host) == name
