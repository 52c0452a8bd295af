import re
from collections.abc import Callable

import pytest

from pipeline.config.section import is_loopback, require_contact, require_servers, require_something, require_url

Require = Callable[[str], str]
SERVERS = ("localhost:9092", "a:1,b.example:65535", "a:1, b:2", "[::1]:9092", "PLAINTEXT://a:1", "127.0.0.1:1")
NO_SERVERS = ("", " ", "a", "a:", ":1", "a:abc", "a:0", "a:65536", "a:1,", "a:1,,b:2", "a:1 b:2")
URLS = ("http://a", "https://a.example:8443", "http://[::1]:80")
NO_URLS = ("http://a:99999", "http://a:b", "http://a:0", "http://:80", "http://[x")
CONTACTS = ("ops@example.org", "https://wikitech.wikimedia.org/wiki/A_b", "http://a:80/b?c=d")
NO_CONTACTS = ("", "the team", "ops@", "ops@host", "mailto:a", "https://", "a@b.c; d", "é@b.c")
NO_PART_OF_A_HEADER = ("a@b.c)\r\nX: y", "https://a/b\n")


@pytest.mark.parametrize(
    ("require", "value"),
    [
        *((require_servers, value) for value in SERVERS),
        *((require_url, value) for value in URLS),
        *((require_contact, value) for value in CONTACTS),
        (require_something, "a b"),
    ],
)
def test_what_can_be_reached_stays_as_it_is(require: Require, value: str) -> None:
    assert require(value) == value


@pytest.mark.parametrize(
    ("require", "value", "why"),
    [
        *((require_servers, value, "is no broker's address, write host:9092") for value in NO_SERVERS),
        *((require_url, value, "") for value in NO_URLS),
        *((require_contact, value, "mail address") for value in (*NO_CONTACTS, *NO_PART_OF_A_HEADER)),
        *((require_something, value, "empty") for value in ("", " \t")),
    ],
)
def test_what_cannot_be_reached_is_refused(require: Require, value: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why) or "."):
        require(value)


@pytest.mark.parametrize(
    ("endpoint", "is_here"),
    [
        ("http://127.0.0.1:80", True),
        ("http://[::1]:80", True),
        ("http://localhost:1", True),
        ("https://en.wikipedia.org", False),
        ("http://mw-api-int:4680", False),
        ("http://127.0.0.1.example.org", False),
    ],
)
def test_what_is_on_this_machine(endpoint: str, is_here: bool) -> None:
    assert is_loopback(endpoint) == is_here
